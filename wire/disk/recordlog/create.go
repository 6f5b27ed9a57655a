package recordlog

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"brine/wire/disk/setaside"
)

// Making says how Create makes a file.
type Making struct {
	Sync bool                 // it is on the disk, with its name, when Create returns
	Own  func(*os.File) error // is called before the file gets its name, for a lock; may be nil
	// Kept says that the old file is damaged, and is set aside; it gets its new name. nil: it goes.
	Kept *string
}

// newSuffix ends the name of a file that is being made. One that a process has left is written over.
const newSuffix = ".new"

// writeAt is how many bytes are written together.
const writeAt = 256 << 10

// Create makes a file with the records that fill puts, in the place of the one that is at path. put tells where the
// body of a record is, and how long the whole record. Until all of it is written the old file stands, and it does after
// an error. The new file is open, and size is where the next record goes.
func Create(path string, how Making, fill func(put func(body func([]byte) []byte) (at, n int64, err error)) error) (
	f *os.File, m Format, size int64, err error) {
	if f, err = os.OpenFile(path+newSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return nil, Format{}, 0, err
	}
	if how.Own != nil {
		err = how.Own(f)
	}
	if err == nil {
		m, err = New(f)
	}
	if err == nil {
		size, err = m.write(f, fill)
	}
	if err == nil && how.Sync {
		err = f.Sync()
	}
	if err == nil && how.Kept != nil {
		*how.Kept, err = setaside.Keep(path, filepath.Dir(path), time.Now())
	}
	if err == nil {
		err = os.Rename(path+newSuffix, path)
	}
	if err != nil {
		return nil, Format{}, 0, errors.Join(err, f.Close(), os.Remove(path+newSuffix))
	}
	if how.Sync {
		err = syncDir(filepath.Dir(path))
	}
	return f, m, size, err
}

// write writes the records of a new file.
func (m Format) write(f *os.File, fill func(func(func([]byte) []byte) (int64, int64, error)) error) (size int64,
	err error) {
	var b []byte
	size = m.begin
	flush := func() error {
		_, err := f.WriteAt(b, size)
		size += int64(len(b))
		b = b[:0]
		return err
	}
	err = fill(func(body func([]byte) []byte) (at, n int64, err error) {
		start := len(b)
		b = m.Append(b, body)
		at, n = size+int64(start)+before, int64(len(b)-start)
		if len(b) >= writeAt {
			err = flush()
		}
		return at, n, err
	})
	if err == nil {
		err = flush()
	}
	return size, err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
