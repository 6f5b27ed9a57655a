package returners

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"brine/wire/payload"
)

// tempPrefix begins the names of files that are being written. Salt uses the same one in its job cache.
const tempPrefix = ".___atomic_write"

// writeFile puts data into a file so that a reader finds the old content or the new, never a part. The
// temporary file lies in tmpDir, on the same file system. With durable the new content outlives a power failure.
func writeFile(file, tmpDir string, data []byte, durable bool) (err error) {
	f, err := os.OpenFile(filepath.Join(tmpDir, tempPrefix+randomName()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(os.Remove(f.Name())))
		}
	}()
	_, err = f.Write(data)
	if err == nil && durable {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readValue reads a msgpack file. A file that is empty or is none gives ErrDamaged and names the file.
func readValue(file string) (any, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	v, err := payload.UnmarshalBin(b)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", file, ErrDamaged, err)
	}
	return v, nil
}
