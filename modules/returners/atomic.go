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

// manner says how a file is written.
type manner struct {
	mode    fs.FileMode // less what the umask forbids
	durable bool        // the content outlives a power failure
}

// writeFile puts data into a file so that a reader finds the old content or the new, never a part. The
// temporary file lies in tmpDir, on the same file system.
func writeFile(file, tmpDir string, data []byte, how manner) (err error) {
	f, err := os.OpenFile(filepath.Join(tmpDir, tempPrefix+randomName()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, how.mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(os.Remove(f.Name())))
		}
	}()
	_, err = f.Write(data)
	if err == nil && how.durable {
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

// writeValue packs a value and writes it atomically.
func writeValue(file, tmpDir string, v any, how manner) error {
	b, err := payload.MarshalBin(v)
	if err != nil {
		return fmt.Errorf("pack %s: %w", file, err)
	}
	return writeFile(file, tmpDir, b, how)
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
