package jobstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/setaside"

	"go.etcd.io/bbolt"
)

// repairSuffix names the file into which what is whole of a damaged one is taken over.
const repairSuffix = ".repair"

// repairPause is the least time between two repairs while a store is open: what the first did not mend another will
// not. repairRetry is that after one that could not be made.
const (
	repairPause = 10 * time.Minute
	repairRetry = 10 * time.Second
)

// rebuild puts a new file, with all that is whole in the damaged one, in its place, and sets that aside. No other
// process has it open.
func rebuild(file string, why error, now time.Time) (d setaside.Damage, err error) {
	d = setaside.Damage{Path: file, Err: why}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return d, err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return d, ErrInUse
	}
	path := file + repairSuffix
	got, err := rescueInto(path, file)
	if err == nil {
		if d.Kept, err = setaside.Keep(file, filepath.Dir(file), now); err == nil {
			err = os.Rename(path, file)
		}
	}
	if err != nil {
		return d, errors.Join(fmt.Errorf("take over what is whole of %s: %w", file, err),
			ignoreMissing(os.Remove(path)))
	}
	d.Err = fmt.Errorf("%w; %s", why, got)
	return d, syncDir(filepath.Dir(file))
}

// repair puts what is whole of the file in use into another one, which takes its place. Commits wait; who reads ends in
// the old one. It tells whether there is a new file: a failure that has nothing to do with the pages of the file is
// none.
func (s *Store) repair(why error) bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed || time.Now().Before(s.repairs) {
		return false
	}
	d, err := s.replace(why)
	failed := err != nil && !errors.Is(err, errAllWhole)
	s.repairs = time.Now().Add(repairPause)
	if failed { // there may be room soon
		s.repairs = time.Now().Add(repairRetry)
	}
	if err != nil {
		d.Err = errors.Join(why, err)
	}
	if !failed || !s.failing {
		s.opt.tell(d)
	}
	s.failing = failed
	return err == nil
}

var errAllWhole = errors.New("all of its pages can be read")

// replace is repair while s.writing is held. The new file is locked before it has the name.
func (s *Store) replace(why error) (setaside.Damage, error) {
	d := setaside.Damage{Path: s.file, Err: why}
	path := s.file + repairSuffix
	got, err := rescueInto(path, s.file)
	if err == nil && got.bad+got.spoiled+got.made == 0 {
		err = errAllWhole
	}
	var fresh *bbolt.DB
	if err == nil {
		fresh, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType,
			NoStatistics: true})
	}
	if err == nil {
		d.Kept, err = setaside.Keep(s.file, filepath.Dir(s.file), time.Now())
	}
	if err == nil {
		err = os.Rename(path, s.file)
	}
	if err != nil {
		if fresh != nil {
			err = errors.Join(err, fresh.Close())
		}
		return d, errors.Join(err, ignoreMissing(os.Remove(path)))
	}
	d.Err = fmt.Errorf("%w; %s", why, got)
	old := s.db.Swap(fresh)
	if s.changes != nil { // a copy of the old file is under way: it must not take the place of this one
		s.changes.void = true
	}
	go func() { _ = guarded(old.Close) }() // when the last reader has done
	return d, syncDir(filepath.Dir(s.file))
}

// check looks at every page of the file, once for each process: damage in a job that nobody asks for shows, too.
// Commits go on meanwhile, and may write over what it comes to: what looks damaged is looked at again while they wait.
func (s *Store) check() error {
	bad, err := s.unreadable()
	if err != nil || bad == 0 {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if bad, err = s.unreadable(); err == nil && bad > 0 {
		err = fmt.Errorf("%w: %d of its pages cannot be read", packedfile.ErrDamaged, bad)
	}
	return err
}

// unreadable is how many pages of the file cannot be read.
func (s *Store) unreadable() (int, error) {
	f, err := os.Open(s.file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	newest, _ := newestMeta(f)
	p := &pages{in: f, meta: newest, seen: map[uint64]bool{}}
	err = p.buckets(func(_ string, pg page) error {
		if _, ok := pg.elements(); !ok {
			p.bad++
		}
		return nil
	})
	return p.bad, err
}
