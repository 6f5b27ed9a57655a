package jobstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// lastList is the newest list of minions that stands alone in a file. Most jobs go to the same minions as the one
// before: their list is then a second name of that file. Nobody writes into such a file: who extends a list puts a
// new file in its place.
type lastList struct {
	mu     sync.Mutex
	file   string
	packed []byte
}

func (l *lastList) get() (file string, packed []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file, l.packed
}

func (l *lastList) set(file string, packed []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file, l.packed = file, packed
}

// writeFresh writes the files of a job that has no directory yet. Each is written once, under its own name: nobody
// reads them before the job is known to anybody, and a new file costs more than what stands in it. What is there
// already is left as it is: an error that is fs.ErrExist.
func (l layout) writeFresh(dir string, job Load, durable bool) error {
	if err := l.makeDir(dir); err != nil {
		return err
	}
	how := wholefile.Options{Mode: l.fileMode(), Umask: true, Sync: durable}
	if err := wholefile.Create(filepath.Join(dir, fileJID), []byte(job.JID), wholefile.Options{Mode: l.fileMode(),
		Umask: true}); err != nil {
		return err
	}
	if job.NoCache {
		if err := wholefile.Create(filepath.Join(dir, fileNoCache), nil, how); err != nil {
			return err
		}
	}
	if job.Load != nil {
		packed, err := payload.MarshalBin(job.Load)
		if err != nil {
			return fmt.Errorf("pack load: %w", err)
		}
		if err := wholefile.Create(filepath.Join(dir, fileLoad), packed, how); err != nil {
			return err
		}
	}
	if job.Minions == nil {
		return nil
	}
	return l.writeFreshMinions(dir, job, how)
}

func (l layout) writeFreshMinions(dir string, job Load, how wholefile.Options) error {
	file, err := minionsFile(dir, job.Syndic)
	if err != nil {
		return err
	}
	packed, err := payload.MarshalBin(union(job.Minions, nil))
	if err != nil {
		return fmt.Errorf("pack list of minions: %w", err)
	}
	if known, same := l.last.get(); known != "" && bytes.Equal(same, packed) && os.Link(known, file) == nil {
		return nil
	}
	if err := wholefile.Create(file, packed, how); err != nil { // the other one has gone, or has names enough
		return err
	}
	l.last.set(file, packed)
	return nil
}

// makeDir makes the directory of a job, which must not be there, and those above it.
func (l layout) makeDir(dir string) error {
	err := os.Mkdir(dir, l.dirMode())
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Lstat(l.root); err != nil {
		if err := l.makeRoot(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(dir), l.dirMode()); err != nil {
		return err
	}
	return os.Mkdir(dir, l.dirMode())
}

// makeRoot makes the directory of jobs.
func (l layout) makeRoot() error {
	if err := os.MkdirAll(l.root, l.dirMode()); err != nil {
		return err
	}
	spread(l.root)
	return nil
}
