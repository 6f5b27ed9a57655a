package datacache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/payload"
)

// Fields returns of the grains or pillar of a minion the top-level entries under some keys, without decoding the rest;
// nil when nothing is known about the minion. What was read is remembered for as long as the file stays the same, so
// that the next target that asks for the same grain costs one look at each file. The map is shared: only read it.
func (b *Banks) Fields(bank, id string, keys ...any) (*payload.Map, error) {
	at, err := b.standing(bank, id)
	if err != nil || at.info == nil {
		return nil, err
	}
	col := column{bank, fmt.Sprint(keys...)}
	state := stateOf(at.info)
	if m := b.fields.get(col, id, state); m != nil {
		return m, nil
	}
	now := time.Now()
	m, err := b.pick(at, bank, id, keys)
	if m == nil || err != nil {
		return nil, err
	}
	if now.Sub(at.info.ModTime()) > stampStep(at.info.ModTime()) {
		b.fields.put(col, id, cell{state, m, weigh(m)})
	}
	return m, nil
}

// pick reads entries out of a file; nil when it holds nothing of the bank.
func (b *Banks) pick(at standing, bank, id string, keys []any) (*payload.Map, error) {
	packed, err := os.ReadFile(at.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("data cache: %w", err)
	}
	want := keys
	inside := at.older && bank != BankMine
	if inside {
		want = []any{bank}
	}
	m, err := payload.UnmarshalBinPick(packed, want...)
	if err != nil {
		err = fmt.Errorf("data cache: read %s: %w: %w", at.file, packedfile.ErrDamaged, err)
		if b.damaged(at.file, err) {
			return b.Data(bank, id)
		}
		return nil, err
	}
	if !inside {
		return m, nil
	}
	all, ok := m.Value(bank).(*payload.Map)
	if !ok {
		return nil, nil
	}
	m = payload.NewMap(len(keys))
	for k, v := range all.All() {
		if slices.Contains(keys, k) {
			m.Set(k, v)
		}
	}
	return m, nil
}

// stampStep is the age at which a file's time stamp tells it from the next that is written in its place: file systems
// count in steps of some milliseconds, or in whole seconds.
func stampStep(stamp time.Time) time.Duration {
	if stamp.Nanosecond() == 0 {
		return 2 * time.Second
	}
	return 100 * time.Millisecond
}

// fieldCache remembers entries of many minions by the key that was asked for, a column for each. Past its size the
// column that was not used for longest goes.
type fieldCache struct {
	mu      sync.Mutex
	columns map[column]*cells
	weight  int
	turn    int64 // counts the looks
}

// maxFieldBytes is about how much memory the entries may take.
const maxFieldBytes = 4 << 20

type column struct{ bank, keys string }

type cells struct {
	byID   map[string]cell
	weight int
	used   int64
}

type cell struct {
	state  fileState
	data   *payload.Map
	weight int
}

// fileState tells one content of a file from the next.
type fileState struct {
	size, written int64
	inode         uint64
}

func stateOf(info fs.FileInfo) fileState {
	s := fileState{size: info.Size(), written: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = st.Ino
	}
	return s
}

func (f *fieldCache) get(col column, id string, now fileState) *payload.Map {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.columns[col]
	if c == nil {
		return nil
	}
	f.turn++
	c.used = f.turn
	if known, ok := c.byID[id]; ok && known.state == now {
		return known.data
	}
	return nil
}

func (f *fieldCache) put(col column, id string, one cell) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.columns[col]
	if c == nil {
		if f.columns == nil {
			f.columns = map[column]*cells{}
		}
		c = &cells{byID: map[string]cell{}}
		f.columns[col] = c
	}
	f.turn++
	c.used = f.turn
	more := one.weight - c.byID[id].weight
	c.byID[id] = one
	c.weight += more
	f.weight += more
	for f.weight > maxFieldBytes {
		f.dropOldest()
	}
}

func (f *fieldCache) dropOldest() {
	var oldest column
	for col, c := range f.columns {
		if o := f.columns[oldest]; o == nil || c.used < o.used {
			oldest = col
		}
	}
	f.weight -= f.columns[oldest].weight
	delete(f.columns, oldest)
}

// weigh estimates the memory of a value, its place in the cache included.
func weigh(v any) int {
	const head = 100
	switch v := v.(type) {
	case *payload.Map:
		n := head
		for k, e := range v.All() {
			n += weigh(k) + weigh(e)
		}
		return n
	case []any:
		n := head
		for _, e := range v {
			n += weigh(e)
		}
		return n
	case string:
		return 16 + len(v)
	case []byte:
		return 24 + len(v)
	}
	return 16
}
