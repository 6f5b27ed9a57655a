// Package pushed keeps the files that minions push to a master (cp.push), within bounds for all files of one minion. It
// does not know who asks. Answers to salt/master.py, AESFuncs._file_recv, which bounds one file only.
package pushed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ErrFull means that the files of a minion have no room for more.
var ErrFull = errors.New("pushed: no room for more files")

// Files of a minion are nobody's but root's to read.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// perEntry is what a file or a directory takes beside its bytes: an inode, a name.
const perEntry = 4096

// recount is how long a minion that is full is believed to be so before its files are counted anew.
const recount = time.Minute

// Store writes files of minions. Its methods may be called by many goroutines.
type Store struct {
	Dir      func(id string) string // of the files of a minion
	MaxBytes int64                  // of all files of a minion, each entry counting as 4 KiB at least; 0: no limit

	mu   sync.Mutex
	used map[string]*usage
}

// usage is what the files of a minion take.
type usage struct {
	mu      sync.Mutex
	counted time.Time // the zero time: not yet
	bytes   int64
}

// Write puts a piece at an offset of a file; offset 0 begins the file anew. rel must be local. It follows no link out
// of the minion's directory. The error is ErrFull when the minion has no room.
func (s *Store) Write(id, rel string, offset int64, data []byte, now time.Time) error {
	u := s.of(id)
	u.mu.Lock()
	defer u.mu.Unlock()
	base := s.Dir(id)
	if err := os.MkdirAll(base, dirMode); err != nil {
		return err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	if u.counted.IsZero() {
		if err := u.count(root, now); err != nil {
			return err
		}
	}
	more := growth(root, rel, offset, len(data))
	if s.full(u, more) && now.Sub(u.counted) > recount {
		if err := u.count(root, now); err != nil { // somebody may have taken files away
			return err
		}
	}
	if s.full(u, more) {
		return fmt.Errorf("%w: %d bytes", ErrFull, u.bytes)
	}
	u.bytes += more
	if err := write(root, rel, offset, data); err != nil {
		u.counted = time.Time{} // how much of it is there is not known
		return err
	}
	return nil
}

func (s *Store) full(u *usage, more int64) bool {
	return s.MaxBytes > 0 && more > 0 && u.bytes+more > s.MaxBytes
}

// of is the usage of a minion. Those of minions that do not exist any more are few, for only accepted ones come here.
func (s *Store) of(id string) *usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = map[string]*usage{}
	}
	if s.used[id] == nil {
		s.used[id] = &usage{}
	}
	return s.used[id]
}

// count looks at what is there, and takes from others the right to read it that earlier versions gave.
func (u *usage) count(root *os.Root, now time.Time) error {
	if err := root.Chmod(".", dirMode); err != nil {
		return err
	}
	n := int64(0)
	err := fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += size(info)
		}
		return err
	})
	if err == nil {
		u.bytes, u.counted = n, now
	}
	return err
}

func size(info fs.FileInfo) int64 {
	if info.Mode().IsRegular() {
		return perEntry + info.Size()
	}
	return perEntry
}

// growth is by how much a piece lets the files of a minion grow. A link that an operator has made within the directory
// is written through, so what it leads to counts.
func growth(root *os.Root, rel string, offset int64, n int) int64 {
	end := offset + int64(n)
	if info, err := root.Stat(rel); err == nil && info.Mode().IsRegular() {
		if offset == 0 {
			return end - info.Size()
		}
		return max(0, end-info.Size())
	}
	more := end + perEntry
	for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
		if _, err := root.Lstat(dir); err != nil {
			more += perEntry
		}
	}
	return more
}

func write(root *os.Root, rel string, offset int64, data []byte) error {
	if dir := filepath.Dir(rel); dir != "." {
		if err := root.MkdirAll(dir, dirMode); err != nil {
			return err
		}
	}
	flags := os.O_CREATE | os.O_WRONLY
	if offset == 0 {
		flags |= os.O_TRUNC
	}
	f, err := root.OpenFile(rel, flags, fileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, offset)
	return errors.Join(f.Chmod(fileMode), err, f.Close())
}

// maxRel is the longest path, in bytes: that of Linux.
const maxRel = 4096

// Rel is the local path that a list of names stands for; not ok for one that leads elsewhere, or that no system has.
func Rel(names []any) (rel string, ok bool) {
	parts := make([]string, 0, len(names))
	for _, v := range names {
		name, isText := v.(string)
		if !isText || name == ".." || strings.ContainsRune(name, 0) {
			return "", false
		}
		parts = append(parts, name)
	}
	rel = filepath.Join(parts...)
	return rel, len(rel) <= maxRel && filepath.IsLocal(rel) && rel != "."
}
