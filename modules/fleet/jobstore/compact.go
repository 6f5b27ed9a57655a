package jobstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

// CompactWhen says when Compact writes the file anew: it is at least so large, and so much of it is free.
type CompactWhen struct {
	MinBytes int64
	Percent  int // of its pages; 0: never
}

// compactSuffix names the file that Compact writes. One that is there at the start is what was left of a Compact that
// did not come to its end.
const compactSuffix = ".compact"

const (
	compactPiece  = 1 << 20   // bytes that are copied in one transaction
	compactRounds = 20        // of catching up with what is being written meanwhile
	compactFew    = 1000      // changes that are copied while writers wait
	compactRetry  = time.Hour // after a failure
	compactSpare  = 64 << 20  // bytes that must stay free on the disk
)

// errRepaired means that the file was replaced while it was copied.
var errRepaired = errors.New("the file was repaired meanwhile")

// errNoRoom means that the disk has too little room for a second file.
var errNoRoom = errors.New("not enough room on the disk for a second file")

// Compact writes the file anew without its free pages, if CompactWhen asks for it, and says how large it was and is; 0
// and 0: nothing was done. Commits and readers go on meanwhile; the last changes are copied while commits wait. The new
// file takes the name of the old when it is whole and on disk, so that whenever the process or the machine ends, the
// file of that name has all that was committed. After an error the old file is in use as before, and the next try waits
// an hour.
func (s *Store) Compact(ctx context.Context) (from, to int64, err error) {
	if s.opt.Compact.Percent <= 0 || time.Now().Before(s.retry) {
		return 0, 0, nil
	}
	var use pageUse
	if err := s.view(func(*bbolt.Tx) error { use, err = readPageUse(s.file); return err }); err != nil {
		return 0, 0, nil // a commit has come between: the next look may tell
	}
	if !use.wasteful(s.opt.Compact) {
		return 0, 0, nil
	}
	defer func() {
		if err != nil {
			s.retry = time.Now().Add(compactRetry)
			err = fmt.Errorf("compact job store %s: %w", s.file, err)
		}
	}()
	if need, free := use.live()+compactSpare, freeBytes(filepath.Dir(s.file)); free >= 0 && free < need {
		return 0, 0, fmt.Errorf("%w: it takes %d bytes, %d are free", errNoRoom, need, free)
	}
	to, err = s.writeAnew(ctx)
	return use.bytes(), to, err
}

// writeAnew makes the new file and puts it in the place of the old one.
func (s *Store) writeAnew(ctx context.Context) (size int64, err error) {
	path := s.file + compactSuffix
	if err := ignoreMissing(os.Remove(path)); err != nil {
		return 0, err
	}
	into, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, NoStatistics: true,
		NoSync: true, NoGrowSync: true})
	if err != nil {
		return 0, err
	}
	c := copying{s: s, into: into}
	err = guarded(func() error { return c.run(ctx) })
	s.writing.Lock()
	s.changes = nil
	s.writing.Unlock()
	if err != nil && !c.swapped {
		return 0, errors.Join(err, into.Close(), ignoreMissing(os.Remove(path)))
	}
	if info, serr := os.Stat(s.file); serr == nil {
		size = info.Size()
	}
	return size, err
}

// copying is one copy of a store on its way into a new file.
type copying struct {
	s       *Store
	into    *bbolt.DB
	swapped bool // into is the store's file
}

// run copies piece by piece, each in a short transaction: one that lasts would keep pages from being used again, and
// could hold up a commit. What is changed from the beginning on is noted, and copied again.
func (c *copying) run(ctx context.Context) error {
	s := c.s
	s.writing.Lock()
	s.changes = newChanges()
	s.writing.Unlock()
	for _, name := range [][]byte{bucketJobs, bucketReturns, bucketOrder, bucketTotals} {
		if err := c.bucket(ctx, name); err != nil {
			return err
		}
	}
	for range compactRounds {
		some := c.takeChanges()
		if err := c.again(ctx, some); err != nil {
			return err
		}
		if len(some) <= compactFew {
			break
		}
	}
	if err := c.into.Sync(); err != nil { // most of it, before writers wait
		return err
	}
	return c.swap(ctx)
}

// takeChanges returns what has been changed since it was called last. No transaction is under way then, so that all of
// it is committed.
func (c *copying) takeChanges() map[change]struct{} {
	c.s.writing.Lock()
	defer c.s.writing.Unlock()
	return c.s.changes.take()
}

// bucket copies one bucket.
func (c *copying) bucket(ctx context.Context, name []byte) error {
	var last []byte
	for more := true; more; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		began := time.Now()
		err := c.s.view(func(tx *bbolt.Tx) error {
			return c.into.Update(func(dst *bbolt.Tx) (err error) {
				last, more, err = copyPiece(dst, tx, name, last)
				return err
			})
		})
		if err != nil {
			return err
		}
		pause(ctx, time.Since(began)) // half of the disk's time is for others
	}
	return nil
}

// copyPiece copies what follows a key, up to a size.
func copyPiece(dst, src *bbolt.Tx, name, after []byte) (last []byte, more bool, err error) {
	to, err := dst.CreateBucketIfNotExists(name)
	if err != nil {
		return nil, false, err
	}
	to.FillPercent = fillPercent
	size, cur := 0, src.Bucket(name).Cursor()
	k, v := cur.Seek(after)
	if k != nil && after != nil && bytes.Equal(k, after) {
		k, v = cur.Next()
	}
	for ; k != nil; k, v = cur.Next() {
		if size > compactPiece {
			return last, true, nil
		}
		if err := to.Put(k, v); err != nil {
			return nil, false, err
		}
		size += len(k) + len(v)
		last = bytes.Clone(k)
	}
	return last, false, nil
}

// again copies the keys that have changed as they are now.
func (c *copying) again(ctx context.Context, keys map[change]struct{}) error {
	if len(keys) == 0 {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.s.view(func(tx *bbolt.Tx) error { return c.copyKeys(tx, keys) })
}

func (c *copying) copyKeys(tx *bbolt.Tx, keys map[change]struct{}) error {
	return c.into.Update(func(dst *bbolt.Tx) error {
		for at := range keys {
			to, key := dst.Bucket([]byte(at.bucket)), []byte(at.key)
			v := tx.Bucket([]byte(at.bucket)).Get(key)
			if v == nil {
				if err := to.Delete(key); err != nil {
					return err
				}
				continue
			}
			if err := to.Put(key, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// swap copies the last changes and puts the new file in the place of the old one. Commits wait.
func (c *copying) swap(ctx context.Context) error {
	s := c.s
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return os.ErrClosed
	}
	if s.changes.void {
		return errRepaired
	}
	old := s.db.Load()
	rest := s.changes.take()
	if len(rest) > 0 {
		if err := old.View(func(tx *bbolt.Tx) error { return c.copyKeys(tx, rest) }); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := c.into.Sync(); err != nil {
		return err
	}
	c.into.NoSync, c.into.NoGrowSync = false, false
	if err := os.Rename(s.file+compactSuffix, s.file); err != nil {
		return err
	}
	s.db.Store(c.into)
	c.swapped = true
	go func() { _ = old.Close() }() // when the last reader has done; nothing in it counts any more
	return syncDir(filepath.Dir(s.file))
}

// syncDir puts the names of a directory on disk.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// change is a key that was written or removed.
type change struct{ bucket, key string }

// changes are noted while a copy is made.
type changes struct {
	mu   sync.Mutex
	keys map[change]struct{}
	void bool // the file that is copied is in use no more; guarded by Store.writing
}

func newChanges() *changes { return &changes{keys: map[change]struct{}{}} }

func (c *changes) note(bucket, key []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys[change{string(bucket), string(key)}] = struct{}{}
}

func (c *changes) take() map[change]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := c.keys
	c.keys = map[change]struct{}{}
	return keys
}

// pageUse is how many pages a file has, and how many of them are free.
type pageUse struct{ pageSize, pages, free int64 }

func (u pageUse) bytes() int64 { return u.pages * u.pageSize }
func (u pageUse) live() int64  { return (u.pages - u.free) * u.pageSize }

// wasteful says whether it is time to write the file anew.
func (u pageUse) wasteful(when CompactWhen) bool {
	return u.bytes() >= max(when.MinBytes, 1) && u.free*100 >= u.pages*int64(when.Percent)
}

// freelist page: its flag, and the count that says that the number stands in the first element
// (go.etcd.io/bbolt, internal/common/page.go).
const (
	freelistFlag  = 0x10
	freelistLarge = 0xffff
	noFreelist    = ^uint64(0)
)

var errNoFreelist = errors.New("no list of free pages")

// readPageUse reads the numbers in the file itself: bbolt counts them only with statistics that every transaction pays
// for. A page that a commit is just writing is an error.
func readPageUse(file string) (pageUse, error) {
	f, err := os.Open(file)
	if err != nil {
		return pageUse{}, err
	}
	defer f.Close()
	newest, _ := newestMeta(f)
	if newest.pages == 0 || newest.freelist == noFreelist {
		return pageUse{}, errNoFreelist
	}
	b := make([]byte, pageHeader+8)
	if _, err := f.ReadAt(b, int64(newest.freelist*newest.pageSize)); err != nil && !errors.Is(err, io.EOF) {
		return pageUse{}, err
	}
	order := binary.NativeEndian
	if order.Uint64(b) != newest.freelist || order.Uint16(b[8:]) != freelistFlag {
		return pageUse{}, errNoFreelist
	}
	free := uint64(order.Uint16(b[10:]))
	if free == freelistLarge {
		free = order.Uint64(b[pageHeader:])
	}
	return pageUse{int64(newest.pageSize), int64(newest.pages), int64(min(free, newest.pages))}, nil
}
