package gitfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"brine/wire/disk/wholefile"

	"github.com/go-git/go-git/v5/plumbing"
)

// errNotKept means that what could be read could not be written: the disk is full, or the folder is not to be written
// to.
var errNotKept = errors.New("cannot be written below the cache")

// keeper writes to a file, and says of its errors that they are those of the place.
type keeper struct{ file *os.File }

func (k keeper) Write(p []byte) (int, error) {
	n, err := k.file.Write(p)
	return n, notKept(err)
}

func notKept(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errNotKept, err)
}

// unread notes that an object cannot be read, unless that is for its size, or for where it is to be written.
func (r *repo) unread(err error) error {
	if err == nil {
		return nil
	}
	if !errors.Is(err, errTooMuch) && !errors.Is(err, errNotKept) {
		r.damaged.Store(true)
	}
	return fmt.Errorf("%s remote '%s': %w", r.role, redactURL(r.id), err)
}

// blob writes the content of a file below the cache, once, and returns its path.
func (r *repo) blob(st *state, h plumbing.Hash) (string, error) {
	name := h.String()
	path := filepath.Join(r.dir, "blobs", name[:2], name[2:])
	if kept(path, time.Now()) {
		return path, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o, err := r.open(st)
	if err != nil {
		return "", err
	}
	return path, r.unread(o.write(h, path, 0o600))
}

// write puts a file beside its place and moves it there when it is whole.
func (o *objects) write(h plumbing.Hash, path string, mode fs.FileMode) (err error) {
	defer rescue(&err)
	obj, err := o.store.EncodedObject(plumbing.BlobObject, h)
	if err != nil {
		return fmt.Errorf("object %s: %w", h, err)
	}
	if obj.Size() > maxBlob {
		return fmt.Errorf("%w: file %s with %d bytes", errTooMuch, h, obj.Size())
	}
	r, err := obj.Reader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return notKept(err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), wholefile.TempPrefix)
	if err != nil {
		return notKept(err)
	}
	n, err := io.Copy(keeper{f}, io.LimitReader(r, obj.Size()+1))
	if err == nil && n != obj.Size() {
		err = fmt.Errorf("file %s has %d bytes instead of %d", h, n, obj.Size())
	}
	err = errors.Join(err, notKept(errors.Join(f.Chmod(mode), f.Close())))
	if err == nil {
		err = notKept(os.Rename(f.Name(), path))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
