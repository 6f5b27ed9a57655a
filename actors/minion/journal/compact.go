package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"brine/wire/disk/recordlog"
	"brine/wire/disk/wholefile"

	"golang.org/x/sys/unix"
)

// compact drops the records that count no more, when they are many. After an error the file is as before, and the
// next attempt waits until it has grown some more.
func (j *File) compact() error {
	switch dead := j.size - j.format.Begin() - j.used; {
	case dead < slack || dead < j.used || j.size < j.patience:
		return nil
	case j.used == 0:
		return j.clear()
	}
	err := j.rewrite()
	if err != nil {
		j.patience = j.size + slack
	}
	return err
}

// clear empties a journal in which nothing counts.
func (j *File) clear() error {
	if !j.format.Headed() {
		return j.rewrite()
	}
	if err := j.f.Truncate(j.format.Begin()); err != nil {
		j.patience = j.size + slack
		return fmt.Errorf("journal: %w", err)
	}
	j.size, j.patience = j.format.Begin(), 0
	return nil
}

// rewrite copies the live records into a new file that takes the place of the old one.
func (j *File) rewrite() error { return j.make(nil) }

// make is rewrite; kept: the old file is damaged, and set aside under a name that goes there.
func (j *File) make(kept *string) error {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	all := append(j.List(Begun, ""), j.List(Returned, "")...)
	slices.SortFunc(all, func(a, b *Entry) int { return int(a.off - b.off) })
	offs := make([]int64, len(all))
	f, format, size, err := recordlog.Create(j.path, recordlog.Making{Sync: j.sync, Own: lockFile, Kept: kept},
		func(put func(func([]byte) []byte) (int64, int64, error)) error {
			for i, e := range all {
				b := make([]byte, e.len)
				if _, err := j.f.ReadAt(b, e.off); err != nil {
					return err
				}
				at, _, err := put(func(dst []byte) []byte { return append(dst, b[head:]...) })
				if offs[i] = at - head; err != nil {
					return err
				}
			}
			return nil
		})
	if f == nil {
		return fmt.Errorf("journal: %w", err)
	}
	for i, e := range all {
		e.off = offs[i]
	}
	old := j.f
	j.f, j.format, j.size, j.patience = f, format, size, 0
	return errors.Join(err, old.Close())
}

// syncName lets the name of the file outlive the power of the machine.
func (j *File) syncName() error {
	if !j.sync {
		return nil
	}
	dir, err := os.Open(filepath.Dir(j.path))
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// removed tells whether somebody has deleted the file that this process writes to.
func (j *File) removed() bool {
	var stat unix.Stat_t
	return unix.Fstat(int(j.f.Fd()), &stat) == nil && stat.Nlink == 0
}

// errTaken means that another process writes to the journal.
var errTaken = errors.New("another process has it")

// lockFile keeps other processes from a journal as long as this one has it open. A file system without locks has no
// such guard.
func lockFile(f *os.File) error {
	if errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) {
		return errTaken
	}
	return nil
}

// Close lets go of the lock by itself: a child that is just being started has a copy of the descriptor until it runs
// its program, and a lock lasts as long as any copy of it.
func (j *File) Close() error {
	_ = unix.Flock(int(j.f.Fd()), unix.LOCK_UN) // a file system without locks has none to let go
	return j.f.Close()
}

// openLocked opens the file of a journal. The file may be replaced between the opening and the lock.
func openLocked(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			blank, _ := recordlog.Blank()
			if err = wholefile.Write(path, blank, wholefile.Options{New: true}); err == nil ||
				errors.Is(err, fs.ErrExist) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		if err := lockFile(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if there, err := os.Stat(path); err == nil && os.SameFile(mine, there) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}
