package keys

import (
	"path/filepath"
	"sync"
	"time"
)

// recheck is how long what is known of a name counts without a look at the disk. Changes are told by the kernel at
// once; those that it does not tell, such as one made through another link to the same file, are seen after this.
const recheck = time.Second

// nameCache remembers what stands under a name in some folders. The kernel queues a note of every change before the
// call that makes it returns, and each look at the cache reads these notes first (one system call, mostly of no notes):
// what salt-key has done counts with the next request. Where notes are not to be had (no inotify, a file system that
// other machines write, no watch left) nothing is remembered and each look reads the disk.
type nameCache[V any] struct {
	folders []string // all of them have names in common
	read    func(name string) (V, bool)

	mu     sync.Mutex
	watch  watch // nil while there is none
	values map[string]remembered[V]
	notes  uint64    // read so far
	retry  time.Time // no watch is tried before
	closed bool
}

type remembered[V any] struct {
	value V
	until time.Time
}

// watch tells of changes in folders.
type watch interface {
	// changes calls each with the name of everything that changed since the last call; "" means that anything may
	// have. After an error, or after "", the watch is of no use any more.
	changes(each func(name string)) error
	close()
}

// get returns what stands under name, if anything does.
func (c *nameCache[V]) get(name string) (v V, ok bool) {
	now := time.Now()
	v, ok, notes := c.recall(name, now)
	if ok {
		return v, true
	}
	if v, ok = c.read(name); ok {
		c.remember(name, v, notes, now.Add(recheck))
	}
	return v, ok
}

func (c *nameCache[V]) recall(name string, now time.Time) (v V, ok bool, notes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(now)
	known, ok := c.values[name]
	return known.value, ok && now.Before(known.until), c.notes
}

// remember keeps a value that was read when so many notes had come; a later note may have been about it.
func (c *nameCache[V]) remember(name string, v V, notes uint64, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch == nil || c.notes != notes {
		return
	}
	if c.values == nil || len(c.values) >= maxCached {
		c.values = map[string]remembered[V]{}
	}
	c.values[name] = remembered[V]{v, until}
}

// follow reads the notes. c.mu is held.
func (c *nameCache[V]) follow(now time.Time) {
	if c.watch == nil {
		if c.closed || now.Before(c.retry) {
			return
		}
		c.retry = now.Add(recheck)
		w, err := newWatch(c.folders)
		if err != nil {
			return
		}
		c.watch = w
	}
	lost := false
	err := c.watch.changes(func(name string) {
		c.notes++
		delete(c.values, name)
		lost = lost || name == ""
	})
	if lost || err != nil {
		c.watch.close()
		c.watch, c.values, c.retry = nil, nil, time.Time{}
		c.notes++
	}
}

// close ends the watch; from now on nothing is remembered.
func (c *nameCache[V]) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch != nil {
		c.watch.close()
	}
	c.watch, c.values, c.closed = nil, nil, true
}

// above maps the folders that hold folders to the names of these in them.
func above(folders []string) map[string][]string {
	out := map[string][]string{}
	for _, f := range folders {
		out[filepath.Dir(f)] = append(out[filepath.Dir(f)], filepath.Base(f))
	}
	return out
}
