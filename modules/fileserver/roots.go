package fileserver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// anyEnv is the environment that stands for all that have none of their own; its name in a root stands for theirs.
const anyEnv = "__env__"

// RootsOptions are the options of a Roots.
type RootsOptions struct {
	// file_roots: the directories of each environment, absolute, the first has precedence
	Envs           map[string][]string
	FollowSymlinks bool             // fileserver_followsymlinks: links may lead out of their root
	IgnoreSymlinks bool             // fileserver_ignoresymlinks: links are not listed
	IgnoreRegex    []string         // file_ignore_regex, where one fits anywhere in a path
	IgnoreGlob     []string         // file_ignore_glob, as fnmatch reads them
	ListTime       time.Duration    // fileserver_list_cache_time: so old may a list be
	MtimeFile      string           // keeps the times of change from one update to the next
	Now            func() time.Time // nil: time.Now
}

// Roots takes files from directories of this machine. Answers to salt/fileserver/roots.py.
type Roots struct {
	opt    RootsOptions
	ignore *ignore
	lists  listCache
}

// NewRoots returns the backend. The error names each pattern that is none; the others hold.
func NewRoots(opt RootsOptions) (*Roots, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	ig, err := newIgnore(opt.IgnoreRegex, opt.IgnoreGlob)
	return &Roots{opt: opt, ignore: ig}, err
}

// backendRoots is the name of this backend in fileserver_backend.
const backendRoots = "roots"

// Name is "roots".
func (r *Roots) Name() string { return backendRoots }

// Envs are the environments of file_roots.
func (r *Roots) Envs() []string {
	out := make([]string, 0, len(r.opt.Envs))
	for env := range r.opt.Envs {
		out = append(out, env)
	}
	slices.Sort(out)
	return out
}

// roots are the directories of an environment; none for an unknown one. The name of an environment becomes a part of a
// path below __env__, so one that would lead elsewhere is unknown.
func (r *Roots) roots(env string) []string {
	if dirs, ok := r.opt.Envs[env]; ok {
		return dirs
	}
	if !filepath.IsLocal(env) || env == "." || strings.Contains(env, "\x00") {
		return nil
	}
	var out []string
	for _, dir := range r.opt.Envs[anyEnv] {
		out = append(out, strings.ReplaceAll(dir, anyEnv, env))
	}
	return out
}

// Find looks into one root after the other, or into the one that the query's index names.
func (r *Roots) Find(env, path string, query map[string]string) (File, bool) {
	path = filepath.Clean(path)
	if !filepath.IsLocal(path) {
		return File{}, false
	}
	dirs := r.roots(env)
	if index, ok := query["index"]; ok {
		i, err := strconv.Atoi(strings.TrimSpace(index))
		if i < 0 { // from the end, as in Python
			i += len(dirs)
		}
		if err != nil || i < 0 || i >= len(dirs) {
			return File{}, false
		}
		dirs = dirs[i : i+1]
	}
	for _, dir := range dirs {
		full := filepath.Join(dir, path)
		if info, err := r.stat(dir, path); err == nil && info.Mode().IsRegular() && !r.ignore.has(full) {
			return File{Path: full, Rel: path, Stat: statList(info)}, true
		}
	}
	return File{}, false
}

// Open opens a file of an environment. It waits for no pipe.
func (r *Roots) Open(env string, f File) (*os.File, error) {
	for _, dir := range r.roots(env) {
		if filepath.Join(dir, f.Rel) == f.Path {
			return r.open(dir, f.Rel)
		}
	}
	return nil, errGone
}

// stat tells what a path below a root leads to.
func (r *Roots) stat(dir, path string) (os.FileInfo, error) {
	if r.opt.FollowSymlinks {
		return os.Stat(filepath.Join(dir, path))
	}
	var info os.FileInfo
	err := inside(dir, path, func(root *os.Root, path string) (err error) {
		info, err = root.Stat(path)
		return err
	})
	return info, err
}

func (r *Roots) open(dir, path string) (*os.File, error) {
	const how = os.O_RDONLY | syscall.O_NONBLOCK
	if r.opt.FollowSymlinks {
		return os.OpenFile(filepath.Join(dir, path), how, 0)
	}
	var file *os.File
	err := inside(dir, path, func(root *os.Root, path string) (err error) {
		file, err = root.OpenFile(path, how, 0)
		return err
	})
	return file, err
}

// inside calls do with a directory that cannot be left, whatever is changed in it meanwhile. A link that names its
// target from the top is resolved first, and allowed where that is inside.
func inside(dir, path string, do func(root *os.Root, path string) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = do(root, path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	top, err1 := filepath.EvalSymlinks(dir)
	real, err2 := filepath.EvalSymlinks(filepath.Join(dir, path))
	if err1 != nil || err2 != nil {
		return err
	}
	if rel, err := filepath.Rel(top, real); err == nil { // one that leads out is refused by os.Root
		return do(root, rel)
	}
	return err
}

// statList is what Python's os.stat gives as a list.
func statList(info os.FileInfo) []int64 {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return []int64{int64(s.Mode), int64(s.Ino), int64(s.Dev), int64(s.Nlink), int64(s.Uid), int64(s.Gid), s.Size,
		int64(s.Atim.Sec), int64(s.Mtim.Sec), int64(s.Ctim.Sec)}
}
