package datacache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"brine/modules/host/packedfile"
	"brine/wire/payload"
)

// Fields returns of the grains or pillar of a minion the top-level entries under some keys, without decoding the rest;
// nil when nothing is known about the minion. What was read is remembered for as long as the file stays the same, so
// that the next target that asks for the same grain costs one look at each file. The map is shared: only read it.
func (b *Banks) Fields(bank, id string, keys ...any) (*payload.Map, error) {
	file, err := b.path(bank, id)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return b.Data(bank, id) // what an older release has left, or nothing
	}
	col := column{bank, fmt.Sprint(keys...)}
	state := stateOf(info)
	if m := b.fields.get(col, id, state); m != nil {
		return m, nil
	}
	now := time.Now()
	packed, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return b.Data(bank, id)
	}
	if err != nil {
		return nil, fmt.Errorf("data cache: %w", err)
	}
	m, err := payload.UnmarshalBinPick(packed, keys...)
	if err != nil {
		err = fmt.Errorf("data cache: read %s: %w: %w", file, packedfile.ErrDamaged, err)
		if b.damaged(file, err) {
			return b.Data(bank, id)
		}
		return nil, err
	}
	if now.Sub(info.ModTime()) > stampStep(info.ModTime()) {
		b.fields.put(col, id, cell{state, m, weigh(m)})
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
