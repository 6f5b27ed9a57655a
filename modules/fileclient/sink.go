package fileclient

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"brine/wire/disk/wholefile"
)

// sink is where a file is written. Until it is whole it has another name, beside its place.
type sink struct {
	*os.File
	commit func() error // puts the whole file in its place
	drop   func() error // removes what is unfinished
}

// finish ends a sink; err says that the file is not whole.
func (s *sink) finish(err error) error {
	err = errors.Join(err, s.Close())
	if err == nil {
		err = s.commit()
	}
	if err != nil {
		return errors.Join(err, s.drop())
	}
	return nil
}

// landing opens a sink when something of the file has come: of one that is not there nothing is left, its folder
// neither.
type landing struct {
	open func() (*sink, error)
	sink *sink
	bulk *bulk
}

func (l *landing) Write(p []byte) (int, error) {
	if err := l.begin(); err != nil {
		return 0, err
	}
	return l.bulk.Write(p)
}

func (l *landing) begin() (err error) {
	if l.sink != nil {
		return nil
	}
	if l.sink, err = l.open(); err == nil {
		l.bulk = newBulk(l.sink.File)
	}
	return err
}

// readAgain gives what has been written to another writer.
func (l *landing) readAgain(to io.Writer) error {
	if l.sink == nil {
		return nil
	}
	_, err := l.sink.Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.Copy(to, l.sink.File)
	}
	return err
}

// finish ends the sink; err says that the file is not whole. One that has come whole and has no bytes is made now.
func (l *landing) finish(err error) error {
	if err == nil {
		err = l.begin()
	}
	if l.sink == nil {
		return err
	}
	return l.sink.finish(err)
}

func tempName(name string) string {
	return filepath.Join(filepath.Dir(name), wholefile.TempPrefix+rand.Text())
}

// forWriting lets a file be read, too: its hash may be of another kind than was guessed.
const forWriting = os.O_RDWR | os.O_CREATE | os.O_EXCL

// inCache opens a sink at a name below a folder of the cache, which no link on the way leads out of.
func inCache(folder, name string) (*sink, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(name)
	if err := makeDirs(root, dir); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	temp := tempName(name)
	f, err := root.OpenFile(temp, forWriting, 0o666)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	commit := func() error {
		if old, err := root.Lstat(name); err == nil && old.IsDir() { // of a tree that has changed
			if err := root.RemoveAll(name); err != nil {
				return err
			}
		} else if err == nil && old.Mode().IsRegular() {
			if err := root.Chmod(temp, old.Mode().Perm()); err != nil {
				return err
			}
		}
		return errors.Join(root.Rename(temp, name), root.Close())
	}
	drop := func() error {
		err := root.Remove(temp)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
			err = nil
		}
		return errors.Join(err, root.Close())
	}
	return &sink{f, commit, drop}, nil
}

// makeDirs makes folders. A file that stands in the way of one was one of a tree that has changed: it goes.
func makeDirs(root *os.Root, dir string) error {
	err := root.MkdirAll(dir, 0o700)
	if !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for at := dir; at != "."; at = filepath.Dir(at) {
		info, err := root.Lstat(at)
		if err != nil || info.IsDir() {
			continue
		}
		if err := root.Remove(at); err != nil {
			return err
		}
	}
	return root.MkdirAll(dir, 0o700)
}

// atPlace opens a sink at any path of the machine. A file that is there keeps its mode and owner, and a link that leads
// to one stays; what is no regular file is written to as it is.
func atPlace(path string) (*sink, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	old, err := os.Stat(path)
	if err == nil && !old.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &sink{f, func() error { return nil }, func() error { return nil }}, err
	}
	temp := tempName(path)
	f, openErr := os.OpenFile(temp, forWriting, 0o666)
	if openErr != nil {
		return nil, openErr
	}
	commit := func() error {
		if err == nil {
			if err := keep(temp, old); err != nil {
				return err
			}
		}
		return os.Rename(temp, path)
	}
	drop := func() error {
		if err := os.Remove(temp); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return &sink{f, commit, drop}, nil
}

// keep gives a file the mode and the owner of another.
func keep(path string, old os.FileInfo) error {
	if s, ok := old.Sys().(*syscall.Stat_t); ok && (int(s.Uid) != os.Geteuid() || int(s.Gid) != os.Getegid()) {
		if err := os.Chown(path, int(s.Uid), int(s.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(path, old.Mode())
}

// once lets one fetch for all who want the same now.
func (c *Client) once(ctx context.Context, key string, fetch func(context.Context) error) error {
	if c.opt.Transfers == nil {
		return fetch(ctx)
	}
	return c.opt.Transfers.Once(ctx, key, fetch)
}

// parent makes sure that the folder of a path is there; ok is false when it is not and may not be made.
func parent(path string, make bool) (ok bool, err error) {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return true, nil
	}
	if !make {
		return false, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("make the folder of %s: %w", path, err)
	}
	return true, nil
}
