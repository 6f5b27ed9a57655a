package keys

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A folder's time stamp says nothing about changes made within the clock step of the stamp itself. A listing is
// trusted again only when the stamp was older than this when the folder was read: the step of local file
// systems is some milliseconds, of those that keep whole seconds it is up to two.
const (
	stampStep       = 100 * time.Millisecond
	coarseStampStep = 2 * time.Second
)

// folder lists the regular files of one directory and remembers the list for as long as the directory's
// modification time proves it.
type folder struct {
	path string
	keep func(name string) bool

	mu    sync.Mutex
	ids   []string
	stamp stamp
	sure  bool
}

// stamp tells one state of a directory from another.
type stamp struct {
	mtime time.Time
	inode uint64
}

func stampOf(info os.FileInfo) stamp {
	s := stamp{mtime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = st.Ino
	}
	return s
}

func newFolder(path string, keep func(string) bool) *folder {
	return &folder{path: path, keep: keep}
}

// list returns the names in Salt's order. The slice is shared: only read it.
func (f *folder) list() ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if absent(err) {
		f.ids, f.sure = nil, false
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	found := stampOf(info)
	if f.sure && found == f.stamp {
		return f.ids, nil
	}
	now := time.Now()
	ids, err := f.read()
	if err != nil {
		return nil, err
	}
	f.ids, f.stamp = ids, found
	f.sure = now.Sub(found.mtime) > step(found.mtime)
	return ids, nil
}

func step(stamp time.Time) time.Duration {
	if stamp.Nanosecond() == 0 {
		return coarseStampStep
	}
	return stampStep
}

func (f *folder) read() ([]string, error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Type().IsRegular() && f.keep(e.Name()) && ValidID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	SortIDs(ids)
	return ids, nil
}

func visible(name string) bool { return !strings.HasPrefix(name, ".") }

func isKeyFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".pub" || ext == ".pem"
}

// IDs lists the ids of one status, ignoring case in their order. The slice is the caller's.
func (s *Store) IDs(st Status) ([]string, error) {
	ids, err := s.ids(st)
	return slices.Clone(ids), err
}

// ids is IDs without the copy.
func (s *Store) ids(st Status) ([]string, error) {
	if st == Local {
		return s.local.list()
	}
	f, ok := s.lists[st]
	if !ok {
		return nil, nil
	}
	return f.list()
}

// List returns the minion keys of every status, empty groups included, in the order of 3008: pending, rejected,
// accepted, denied. An id in two folders counts where Get finds it.
func (s *Store) List() (Groups, error) {
	out := make(Groups, 0, len(order)+1)
	seen := map[string]bool{}
	for _, st := range [...]Status{Rejected, Pending, Accepted, Denied} {
		ids, err := s.ids(st)
		if err != nil {
			return nil, err
		}
		out = append(out, Group{Status: st, IDs: unseen(ids, seen, st)})
	}
	out[0], out[1] = out[1], out[0] // looked up in one order, shown in the other
	return out, nil
}

// Keyed holds the ids that have a key of any status.
func (s *Store) Keyed() (map[string]bool, error) {
	groups, err := s.List()
	if err != nil {
		return nil, err
	}
	keyed := make(map[string]bool, groups.Len())
	for _, g := range groups {
		for _, id := range g.IDs {
			keyed[id] = true
		}
	}
	return keyed, nil
}

// unseen copies ids without those found under a stricter status. Denied keys stand beside the others.
func unseen(ids []string, seen map[string]bool, st Status) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		if st != Denied && seen[id] {
			continue
		}
		if st == Rejected || st == Pending {
			seen[id] = true
		}
		out = append(out, id)
	}
	return out
}

// ListAll is List and the master's own key files at the end.
func (s *Store) ListAll() (Groups, error) {
	out, err := s.List()
	if err != nil {
		return nil, err
	}
	local, err := s.IDs(Local)
	if err != nil {
		return nil, err
	}
	return append(out, Group{Status: Local, IDs: local}), nil
}
