package minion

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// compact drops the records that count no more, when they are many. After an error the file is as before, and the
// next attempt waits until it has grown some more.
func (j *journalFile) compact() error {
	switch dead := j.size - j.used; {
	case dead < journalSlack || dead < j.used || j.size < j.patience:
		return nil
	case j.used == 0:
		return j.clear()
	}
	err := j.rewrite()
	if err != nil {
		j.patience = j.size + journalSlack
	}
	return err
}

// clear empties a journal in which nothing counts.
func (j *journalFile) clear() error {
	if err := j.f.Truncate(0); err != nil {
		j.patience = j.size + journalSlack
		return fmt.Errorf("journal: %w", err)
	}
	j.size, j.patience = 0, 0
	return nil
}

// rewrite copies the live records into a new file that takes the place of the old one. It does not leave that to wholefile:
// the new file is locked before it has the name, and stays open.
func (j *journalFile) rewrite() error {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	f, err := os.OpenFile(j.path+tmpSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	all := append(j.list(journalBegun, ""), j.list(journalReturn, "")...)
	slices.SortFunc(all, func(a, b *journalEntry) int { return int(a.off - b.off) })
	size, err := j.copyTo(f, all)
	if err == nil && j.sync {
		err = f.Sync()
	}
	if err == nil {
		err = lockFile(f)
	}
	if err == nil {
		err = os.Rename(j.path+tmpSuffix, j.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("journal: %w", err), f.Close(), removeIfThere(j.path+tmpSuffix))
	}
	off := int64(0)
	for _, e := range all {
		e.off, off = off, off+e.len
	}
	old := j.f
	j.f, j.size, j.patience = f, size, 0
	return errors.Join(j.syncName(), old.Close())
}

// syncName lets the name of the file outlive the power of the machine.
func (j *journalFile) syncName() error {
	if !j.sync {
		return nil
	}
	dir, err := os.Open(filepath.Dir(j.path))
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// copyTo writes the records one after the other.
func (j *journalFile) copyTo(f *os.File, all []*journalEntry) (size int64, err error) {
	for _, e := range all {
		if _, err := io.Copy(f, io.NewSectionReader(j.f, e.off, e.len)); err != nil {
			return size, err
		}
		size += e.len
	}
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != size {
		return size, errors.Join(err, io.ErrUnexpectedEOF)
	}
	return size, nil
}

// removed tells whether somebody has deleted the file that this process writes to.
func (j *journalFile) removed() bool {
	var stat unix.Stat_t
	return unix.Fstat(int(j.f.Fd()), &stat) == nil && stat.Nlink == 0
}

// errJournalTaken means that another process writes to the journal.
var errJournalTaken = errors.New("another process has it")

// lockFile keeps other processes from a journal as long as this one has it open. A file system without locks has no
// such guard.
func lockFile(f *os.File) error {
	if errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) {
		return errJournalTaken
	}
	return nil
}

// close lets go of the lock by itself: a child that is just being started has a copy of the descriptor until it runs
// its program, and a lock lasts as long as any copy of it.
func (j *journalFile) close() error {
	_ = unix.Flock(int(j.f.Fd()), unix.LOCK_UN) // a file system without locks has none to let go
	return j.f.Close()
}

// openLocked opens the file of a journal. The file may be replaced between the opening and the lock.
func openLocked(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
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
