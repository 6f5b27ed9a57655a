package queue

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/wire/disk/recordlog"
	"brine/wire/disk/setaside"
)

// segment is a part of the line: a file, or records in memory.
type segment struct {
	first, end     uint64 // numbers of its first record, and of the one behind its last
	size           int64  // of its records
	oldest, newest time.Time
	path           string
	file           *os.File // nil: it is in memory
	format         recordlog.Format
	tail           int64 // where the next record goes
	held           []Item
	broken         bool // nothing more goes into it
	holes          bool // what is whole in it is found by a search
	older          bool // it is of a release with another form
}

// segmentSuffix ends the names of files of records: NUMBER.records
const segmentSuffix = ".records"

func createSegment(dir string, first uint64, sync bool) (s *segment, err error) {
	s = &segment{first: first, end: first, path: filepath.Join(dir, fmt.Sprintf("%020d%s", first, segmentSuffix))}
	if s.file, err = os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return nil, err
	}
	if s.format, err = recordlog.New(s.file); err == nil && sync {
		err = syncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(err, s.remove())
	}
	s.tail = s.format.Begin()
	return s, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// append writes records, all or none.
func (s *segment) append(now time.Time, bodies [][]byte, sync bool) error {
	var b []byte
	for i, body := range bodies {
		b = s.format.Append(b, func(dst []byte) []byte { return appendRecord(dst, s.end+uint64(i), now, body) })
	}
	_, err := s.file.WriteAt(b, s.tail)
	if err == nil && sync {
		err = s.file.Sync()
	}
	if err != nil {
		s.broken = true
		return errors.Join(err, s.file.Truncate(s.tail))
	}
	s.size += int64(len(b))
	s.tail += int64(len(b))
	s.came(now, len(bodies))
	return nil
}

// hold keeps records in memory.
func (s *segment) hold(now time.Time, bodies [][]byte) {
	for _, body := range bodies {
		s.held = append(s.held, Item{At: now, Body: body})
		s.size += recordSize(body)
	}
	s.came(now, len(bodies))
}

func (s *segment) came(now time.Time, n int) {
	if s.first == s.end {
		s.oldest = now
	}
	s.end += uint64(n)
	s.newest = now
}

func (s *segment) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

func (s *segment) remove() error { return errors.Join(s.close(), os.Remove(s.path)) }

// openSegments reads the files of a process before.
func (q *Queue) openSegments() error {
	entries, err := os.ReadDir(q.opt.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), segmentSuffix)
		first, err := strconv.ParseUint(number, 10, 64)
		if !ok || err != nil {
			continue // not ours
		}
		if err := q.openSegment(&segment{first: first, end: first, path: filepath.Join(q.opt.Dir,
			e.Name())}); err != nil {
			return err
		}
	}
	slices.SortFunc(q.segs, func(a, b *segment) int { return cmp.Compare(a.first, b.first) })
	return nil
}

func (q *Queue) openSegment(s *segment) (err error) {
	if s.file, err = os.OpenFile(s.path, os.O_RDWR, 0); err != nil {
		return err
	}
	damage, err := s.scan()
	if err != nil {
		return errors.Join(err, s.close())
	}
	whole := s.end > s.first
	if damage != nil {
		d := setaside.Damage{Path: s.path, Err: fmt.Errorf("%w: records for returners", damage)}
		if whole { // it goes when all have it; the other name stays
			d.Kept, err = setaside.Keep(s.path, q.opt.Dir, time.Now())
		} else {
			d.Kept, err = setaside.Move(s.path, time.Now())
		}
		d.Err = errors.Join(d.Err, err)
		q.opt.tell(d)
		s.broken, s.holes = true, !s.older
	}
	if damage != nil && !whole {
		return s.close()
	}
	q.segs = append(q.segs, s)
	q.bytes += s.size
	q.next = max(q.next, s.end)
	return nil
}

// scan finds the whole records of a file.
func (s *segment) scan() (damage, err error) {
	found, err := s.each(func(it Item, n int64) bool {
		s.count(it, n)
		return true
	})
	if err != nil {
		return nil, err
	}
	s.format, s.tail = found.Format, found.End
	if damage = found.Damage(); errors.Is(damage, recordlog.ErrDamaged) && !found.Format.Headed() && !found.Empty {
		return s.scanOlder(damage)
	}
	return damage, nil
}

// count adds a record that stands there.
func (s *segment) count(it Item, n int64) {
	if s.size == 0 {
		s.oldest = it.At
	}
	s.size += n
	s.end, s.newest = it.Seq+1, it.At
}

// each shows all records of a file that are whole, and how long each is.
func (s *segment) each(f func(it Item, n int64) bool) (recordlog.Found, error) {
	enough := false
	return recordlog.Scan(s.file, recordlog.Format{}, func(at int64, body []byte) error {
		it, err := parseRecord(body)
		if err != nil || enough || it.Seq < s.first {
			return err
		}
		it.seg, it.end = s.first, at+int64(len(body))
		enough = !f(it, int64(len(body))+recordlog.Overhead)
		return nil
	})
}

// scanOlder reads a file of a release with another form. Nothing is added to it.
func (s *segment) scanOlder(damage error) (error, error) {
	info, err := s.file.Stat()
	if err != nil {
		return nil, err
	}
	s.older, s.broken = true, true
	buf := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, info.Size()), 64<<10)
	for s.tail = 0; s.tail < info.Size(); {
		it, err := readOlder(buf, info.Size()-s.tail)
		if err != nil {
			break
		}
		n := int64(olderHead + len(it.Body))
		it.Seq = s.end
		s.count(it, n)
		s.tail += n
	}
	if s.tail == info.Size() {
		return nil, nil
	}
	return damage, nil
}
