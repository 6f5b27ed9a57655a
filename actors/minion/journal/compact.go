package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"brine/wire/disk/recordlog"
)

// compact drops the records that count no more, when they are many. After an error the file is as before, and the
// next attempt waits until it has grown some more.
func (j *File) compact() error {
	switch dead := j.log.Used() - j.used; {
	case dead < slack || dead < j.used || !j.log.Due(0):
		return nil
	case j.used == 0:
		return j.clear()
	}
	return j.rewrite()
}

// clear empties a journal in which nothing counts.
func (j *File) clear() error {
	if err := j.log.Empty(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// rewrite copies the live records into a new file that takes the place of the old one.
func (j *File) rewrite() error {
	err := os.MkdirAll(filepath.Dir(j.log.Path()), 0o700)
	if err == nil {
		fill, moved := j.rest()
		err = j.log.Rewrite(fill, moved)
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// rest puts the live records into a new file, and takes over where they stand.
func (j *File) rest() (fill recordlog.Contents, moved func()) {
	all := append(j.List(Begun, ""), j.List(Returned, "")...)
	slices.SortFunc(all, func(a, b *Entry) int { return int(a.off - b.off) })
	offs := make([]int64, len(all))
	return func(put func(recordlog.Body) (int64, error)) error {
			for i, e := range all {
				b, err := j.log.Read(e.off, int(e.len-head))
				if err != nil {
					return err
				}
				if offs[i], err = put(func(dst []byte) []byte { return append(dst, b...) }); err != nil {
					return err
				}
			}
			return nil
		}, func() {
			for i, e := range all {
				e.off = offs[i]
			}
		}
}

// setSync says whether what is written has to outlive the power of the machine, and lets the name of the file do so.
func (j *File) setSync(on bool) error {
	j.sync = on
	j.log.SetSync(on)
	if !on {
		return nil
	}
	dir, err := os.Open(filepath.Dir(j.log.Path()))
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Close closes the file, and lets go of its lock.
func (j *File) Close() error { return j.log.Close() }
