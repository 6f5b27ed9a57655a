package fileserver

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxListed bounds the environments whose lists are remembered: below __env__ a minion can name any.
const maxListed = 64

// listCache remembers the lists of environments. Those who ask for one that is being made wait for it.
type listCache struct {
	mu   sync.Mutex
	envs map[string]*listed
}

type listed struct {
	mu    sync.Mutex
	lists *Lists // nil: not made yet
	at    time.Time
}

func (c *listCache) of(env string) *listed {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.envs[env]
	if l == nil {
		if c.envs == nil || len(c.envs) >= maxListed {
			c.envs = map[string]*listed{}
		}
		l = &listed{}
		c.envs[env] = l
	}
	return l
}

// Lists walks the roots of an environment, unless a walk is not older than ListTime.
func (r *Roots) Lists(env string) (*Lists, error) {
	dirs := r.roots(env)
	if len(dirs) == 0 {
		return &Lists{}, nil
	}
	l := r.lists.of(env)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := r.opt.Now()
	if age := now.Sub(l.at); l.lists != nil && age >= 0 && age < r.opt.ListTime {
		return l.lists, nil
	}
	w := walk{roots: r, files: map[string]bool{}, dirs: map[string]bool{}, empty: map[string]bool{},
		links: map[string]string{}}
	for _, dir := range dirs {
		w.root, w.real = dir, realPath(dir)
		w.dir("", nil)
	}
	l.lists, l.at = &Lists{Files: sorted(w.files), Dirs: sorted(w.dirs), EmptyDirs: sorted(w.empty), Links: w.links},
		now
	return l.lists, nil
}

// Forget drops the lists of an environment.
func (r *Roots) Forget(env string) bool {
	r.lists.mu.Lock()
	defer r.lists.mu.Unlock()
	_, ok := r.lists.envs[env]
	delete(r.lists.envs, env)
	return ok
}

// walk collects the names of an environment.
type walk struct {
	roots       *Roots
	root, real  string // the root that is walked, as configured and without links
	files, dirs map[string]bool
	empty       map[string]bool
	links       map[string]string
}

// dir goes through one directory; above holds those that it lies in, so that links in a circle end.
//
// Unlike Salt: it lists such a circle some forty times over, until the system refuses the path.
func (w *walk) dir(rel string, above []os.FileInfo) {
	path := filepath.Join(w.root, rel)
	here, err := os.Stat(path)
	if err != nil || slices.ContainsFunc(above, func(up os.FileInfo) bool { return os.SameFile(up, here) }) {
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return // one that may not be read holds nothing, as with Salt
	}
	above = append(slices.Clip(above), here)
	for _, e := range entries {
		w.entry(filepath.Join(rel, e.Name()), e, above)
	}
}

// entry notes one name, and goes into a directory. What a pattern hides is not listed, but what lies in it is.
func (w *walk) entry(rel string, e fs.DirEntry, above []os.FileInfo) {
	path, isLink, isDir := filepath.Join(w.root, rel), e.Type()&fs.ModeSymlink != 0, e.IsDir()
	if isLink {
		info, err := os.Stat(path)
		isDir = err == nil && info.IsDir()
	}
	if !(isLink && w.roots.opt.IgnoreSymlinks) && !w.roots.ignore.has(rel) {
		if isDir {
			w.dirs[rel] = true
			if inside, err := os.ReadDir(path); err == nil && len(inside) == 0 {
				w.empty[rel] = true
			}
		} else {
			w.files[rel] = true
		}
		if isLink {
			w.link(rel, path)
		}
	}
	if isDir && (!isLink || w.roots.opt.FollowSymlinks) {
		w.dir(rel, above)
	}
}

// link notes what a link leads to, as Salt decides it: with followed links only where that is inside the root, by a
// rule that takes a target which begins with ".." as relative to the link itself.
func (w *walk) link(rel, path string) {
	target, err := os.Readlink(path)
	if err != nil {
		return
	}
	joined := target
	switch {
	case filepath.IsAbs(target):
	case strings.HasPrefix(target, ".."):
		joined = filepath.Join(path, target)
	default:
		joined = filepath.Join(filepath.Dir(path), target)
	}
	to, err := filepath.Rel(w.real, realPath(joined))
	if !w.roots.opt.FollowSymlinks || err == nil && !strings.HasPrefix(to, "..") {
		w.links[rel] = target
	}
}

// realPath is a path without links, as far as it exists (os.path.realpath).
func realPath(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(realPath(dir), filepath.Base(path))
}

func sorted(names map[string]bool) []string {
	out := make([]string, 0, len(names))
	for name := range names {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
