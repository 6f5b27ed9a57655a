// Package spool keeps on disk what returners have not taken yet: one file for each value and returner, in the order in
// which they came, within a bound of bytes and an age. One goroutine uses a Spool. It calls no returner.
package spool

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// suffix ends the names of records: SEQUENCE.p
const suffix = ".p"

// Options say where the records are, and how many.
type Options struct {
	Dir      string
	MaxBytes int64         // of all files; 0: no limit
	MaxAge   time.Duration // 0: no limit
	Sync     bool          // records are on the disk before Put returns
	// Damaged is told of records that are damaged; nil: nobody is.
	Damaged func(setaside.Damage)
}

func (o Options) tell(d setaside.Damage) {
	if o.Damaged != nil {
		o.Damaged(d)
	}
}

// Item is one record.
type Item struct {
	Name     string // of its file
	Returner string
	Line     string // what waits in one line is for one place: a returner with its options
	Made     time.Time
	Bytes    int64
}

// Spool is the folder, with what is known of it.
type Spool struct {
	opt   Options
	items []Item // in their order
	next  uint64
	bytes int64
}

// ErrFull means that there is no room for a record.
var ErrFull = errors.New("spool: no room")

// Open reads the folder. A record that is damaged is set aside and told of; one that is unfinished is removed. A folder
// that is missing is made, now or when there is room.
func Open(opt Options) (*Spool, error) {
	s := &Spool{opt: opt}
	entries, err := os.ReadDir(opt.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.MkdirAll(opt.Dir, 0o700)
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("spool of returners: %w", err)
	}
	for _, e := range entries {
		n, isRecord := sequence(e.Name())
		if !isRecord && !strings.HasPrefix(e.Name(), wholefile.TempPrefix) {
			continue // not ours
		}
		path := filepath.Join(opt.Dir, e.Name())
		if !isRecord {
			if err := os.Remove(path); err != nil {
				return nil, fmt.Errorf("spool of returners: %w", err)
			}
			continue
		}
		s.next = max(s.next, n+1)
		item, err := s.look(e.Name())
		if errors.Is(err, errDamaged) {
			kept, moveErr := setaside.Move(path, time.Now())
			opt.tell(setaside.Damage{Path: path, Kept: kept, Err: errors.Join(err, moveErr)})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("spool of returners: %w", err)
		}
		s.bytes += item.Bytes
		s.items = append(s.items, item)
	}
	slices.SortFunc(s.items, func(a, b Item) int { return cmp.Compare(a.Name, b.Name) })
	return s, nil
}

// errDamaged means that a record is not what was written.
var errDamaged = errors.New("the copy of a return for a returner is damaged, and lost to it")

// sequence is the number in the name of a record.
func sequence(name string) (uint64, bool) {
	text, ok := strings.CutSuffix(name, suffix)
	n, err := strconv.ParseUint(text, 10, 64)
	return n, ok && err == nil && name == fileName(n)
}

// fileName sorts as its number does.
func fileName(n uint64) string { return fmt.Sprintf("%020d%s", n, suffix) }

// look reads a record's head.
func (s *Spool) look(name string) (Item, error) {
	_, item, err := s.read(name)
	return item, err
}

// read reads a whole record.
func (s *Spool) read(name string) (any, Item, error) {
	b, err := os.ReadFile(filepath.Join(s.opt.Dir, name))
	if err != nil {
		return nil, Item{}, err
	}
	v, err := payload.Unmarshal(b)
	if err != nil {
		return nil, Item{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	m, _ := v.(*payload.Map)
	made, ok := m.Int("made")
	if !ok || m.Str("returner") == "" {
		return nil, Item{}, errDamaged
	}
	value, older := m.Get("value") // of a release without checksums
	if !older {
		raw := payload.AsBytes(m.Value("packed"))
		if sum, ok := m.Int("sum"); !ok || sum != sumOf(m.Str("returner"), m.Str("line"), made, raw) {
			return nil, Item{}, errDamaged
		}
		if value, err = payload.Unmarshal(raw); err != nil {
			return nil, Item{}, fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	return value, Item{Name: name, Returner: m.Str("returner"), Line: m.Str("line"), Made: time.Unix(made, 0),
		Bytes: int64(len(b))}, nil
}

// Put keeps a value for a returner, at the end of a line. ErrFull: there is no room for it, whatever else is there.
func (s *Spool) Put(returner, line string, value any, now time.Time) (Item, error) {
	packed, err := payload.MarshalBin(value)
	var b []byte
	if err == nil {
		b, err = payload.MarshalBin(payload.M("returner", returner, "line", line, "made", now.Unix(), "packed", packed,
			"sum", sumOf(returner, line, now.Unix(), packed)))
	}
	if err != nil {
		return Item{}, fmt.Errorf("spool of returners: %w", err)
	}
	if n := int64(len(b)); s.opt.MaxBytes > 0 && s.bytes+n > s.opt.MaxBytes {
		return Item{}, fmt.Errorf("%w for %d bytes: %d of %d are taken", ErrFull, n, s.bytes, s.opt.MaxBytes)
	}
	item := Item{Name: fileName(s.next), Returner: returner, Line: line, Made: now, Bytes: int64(len(b))}
	err = wholefile.Write(filepath.Join(s.opt.Dir, item.Name), b, wholefile.Options{Sync: s.opt.Sync})
	if errors.Is(err, fs.ErrNotExist) { // there was no room for the folder before
		if err = os.MkdirAll(s.opt.Dir, 0o700); err == nil {
			err = wholefile.Write(filepath.Join(s.opt.Dir, item.Name), b, wholefile.Options{Sync: s.opt.Sync})
		}
	}
	if err != nil {
		return Item{}, fmt.Errorf("spool of returners: %w", err)
	}
	s.next++
	s.bytes += item.Bytes
	s.items = append(s.items, item)
	return item, nil
}

// sumOf is the checksum of a record.
func sumOf(returner, line string, made int64, packed []byte) int64 {
	head := fmt.Appendf(nil, "%q %q %d ", returner, line, made)
	return int64(crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, packed))
}

// Next is the oldest record of a line; false: there is none.
func (s *Spool) Next(line string) (Item, bool) {
	i := slices.IndexFunc(s.items, func(i Item) bool { return i.Line == line })
	if i < 0 {
		return Item{}, false
	}
	return s.items[i], true
}

// Value reads the value of a record.
func (s *Spool) Value(i Item) (any, error) {
	v, _, err := s.read(i.Name)
	if err != nil {
		return nil, fmt.Errorf("spool of returners: %w", err)
	}
	return v, nil
}

// Remove removes a record, whose returner has taken it or never will.
func (s *Spool) Remove(i Item) error {
	at := slices.IndexFunc(s.items, func(other Item) bool { return other.Name == i.Name })
	if at < 0 {
		return nil
	}
	s.items = slices.Delete(s.items, at, at+1)
	s.bytes -= i.Bytes
	if err := os.Remove(filepath.Join(s.opt.Dir, i.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("spool of returners: %w", err)
	}
	return nil
}

// Expire removes what is too old, and returns it.
func (s *Spool) Expire(now time.Time) ([]Item, error) {
	var old []Item
	for _, i := range s.items {
		if s.opt.MaxAge > 0 && now.Sub(i.Made) > s.opt.MaxAge {
			old = append(old, i)
		}
	}
	var all []error
	for _, i := range old {
		all = append(all, s.Remove(i))
	}
	return old, errors.Join(all...)
}

// Lines are those in which something waits, that of the oldest record first.
func (s *Spool) Lines() []string {
	var out []string
	for _, i := range s.items {
		if !slices.Contains(out, i.Line) {
			out = append(out, i.Line)
		}
	}
	return out
}

// Len is the number of records.
func (s *Spool) Len() int { return len(s.items) }

// Bytes are those of all records.
func (s *Spool) Bytes() int64 { return s.bytes }
