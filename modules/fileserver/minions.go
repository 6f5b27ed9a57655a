package fileserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"brine/wire/payload"
	"brine/wire/python/fnmatch"
	"brine/wire/python/re"
)

// MinionsOptions are the options of a Minions.
type MinionsOptions struct {
	Dir string // has a folder for each minion, with a folder "files" in it
	Env string // minionfs_env: the one environment that has them
	// minionfs_mountpoint: the folder in which minions appear, with or without salt://; "": at the top
	Mount                string
	Whitelist, Blacklist []string // minionfs_whitelist, minionfs_blacklist: globs, or regular expressions for whole ids
	IgnoreRegex          []string // file_ignore_regex
	IgnoreGlob           []string // file_ignore_glob
}

// Minions serves the files that minions have pushed (cp.push), as MOUNT/ID/PATH. What a minion pushes is nobody's but
// its own word: top files are never served, nor is a name that is no UTF-8, for the lists of all would be broken by it.
// No link leads out of the folder of a minion. Answers to salt/fileserver/minionfs.py.
type Minions struct {
	opt          MinionsOptions
	mount        string // with a slash behind it, unless it is empty
	ignore       *ignore
	white, black *exposed

	mu    sync.Mutex // one walks at a time
	lists *Lists
	began time.Time // of the walk that has made lists
}

// backendMinions is the name of this backend in fileserver_backend.
const backendMinions = "minionfs"

// NewMinions returns the backend. The error names each pattern of names that is none; the others hold.
func NewMinions(opt MinionsOptions) (*Minions, error) {
	ig, err := newIgnore(opt.IgnoreRegex, opt.IgnoreGlob)
	mount := strings.Trim(strings.TrimPrefix(opt.Mount, "salt://"), "/")
	if mount != "" {
		mount += "/"
	}
	return &Minions{opt: opt, mount: mount, ignore: ig, white: newExposed(opt.Whitelist),
		black: newExposed(opt.Blacklist)}, err
}

// Name is "minionfs".
func (m *Minions) Name() string { return backendMinions }

// Envs is the one environment.
func (m *Minions) Envs() []string { return []string{m.opt.Env} }

// shown tells whether the files of a minion are served.
func (m *Minions) shown(id string) bool {
	return payload.ValidID(id) && (len(m.opt.Blacklist) == 0 || !m.black.has(id, true)) &&
		(len(m.opt.Whitelist) == 0 || m.white.has(id, false))
}

// Find finds MOUNT/ID/PATH. Unlike Salt: what does not stand below the mountpoint is not found, and not looked for
// behind as many other characters.
func (m *Minions) Find(env, name string, _ map[string]string) (File, bool) {
	folder := strings.HasSuffix(name, "/")
	name, mounted := strings.CutPrefix(path.Clean(name), m.mount)
	if env != m.opt.Env || !mounted || folder || path.Base(name) == "top.sls" || !utf8.ValidString(name) {
		return File{}, false
	}
	id, rel, _ := strings.Cut(name, "/")
	if !m.shown(id) { // os.Root sees to the rest of the path
		return File{}, false
	}
	dir := m.files(id)
	full := filepath.Join(dir, rel)
	var info os.FileInfo
	err := inside(dir, rel, func(root *os.Root, rel string) (err error) {
		info, err = root.Stat(rel)
		return err
	})
	if err != nil || !info.Mode().IsRegular() || m.ignore.has(full) {
		return File{}, false
	}
	return File{Path: full, Rel: name, Stat: statList(info)}, true
}

func (m *Minions) files(id string) string { return filepath.Join(m.opt.Dir, id, "files") }

// Open opens a file that was found. It waits for no pipe.
func (m *Minions) Open(_ string, f File) (file *os.File, err error) {
	id, rel, _ := strings.Cut(f.Rel, "/")
	err = inside(m.files(id), rel, func(root *os.Root, rel string) (err error) {
		file, err = root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		return err
	})
	return file, err
}

// Select: unlike with other backends a prefix is the name of a folder that is listed whole, and one that is only a
// minion is none.
func (m *Minions) Select(prefix string, dirs bool) func(name string) bool {
	prefix = strings.TrimPrefix(prefix, m.mount)
	if prefix == "" {
		return func(string) bool { return true }
	}
	if id, rest, _ := strings.Cut(prefix, "/"); id == "" || rest == "" {
		return func(string) bool { return false }
	}
	prefix = m.mount + path.Clean(prefix)
	return func(name string) bool {
		rest, ok := strings.CutPrefix(name, prefix)
		return ok && (strings.HasPrefix(rest, "/") || dirs && rest == "")
	}
}

// Lists walks the folders of all minions. A list is as new as the question: who has waited for another one's walk that
// began after he had come takes what that has found.
func (m *Minions) Lists(env string) (*Lists, error) {
	if env != m.opt.Env {
		return &Lists{}, nil
	}
	came := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lists != nil && m.began.After(came) {
		return m.lists, nil
	}
	m.began = time.Now()
	minions, err := os.ReadDir(m.opt.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	out := &Lists{}
	for _, e := range minions {
		if m.shown(e.Name()) {
			m.walk(e.Name(), out)
		}
	}
	slices.Sort(out.Files)
	slices.Sort(out.Dirs)
	m.lists = out
	return out, err
}

// walk adds the names of a minion. Links are neither listed nor followed, and what cannot be read holds nothing.
func (m *Minions) walk(id string, out *Lists) {
	root, err := os.OpenRoot(m.files(id))
	if err != nil {
		return // it has pushed nothing
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(rel string, e fs.DirEntry, err error) error {
		name := m.mount + id + "/" + rel
		switch {
		case err != nil || rel == ".":
		case !utf8.ValidString(rel):
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir():
			out.Dirs = append(out.Dirs, name)
		case e.Type()&fs.ModeSymlink == 0 && !m.ignore.has(name):
			out.Files = append(out.Files, name)
		}
		return nil
	})
}

// Remembered is none: no lists are kept from one question to the next.
func (m *Minions) Remembered() []string { return nil }

// Forget has nothing to drop.
func (m *Minions) Forget(string) bool { return false }

// exposed are the ids of a white list or a black one.
type exposed struct {
	globs   []*fnmatch.Pattern
	regexps []*re.Pattern
}

// newExposed compiles a list. An expression that is a glob only is no fault, as with Salt.
func newExposed(list []string) *exposed {
	out := &exposed{}
	for _, expr := range list {
		out.globs = append(out.globs, fnmatch.Compile(expr))
		if re, err := re.Compile(fmt.Sprintf(`\A%s\Z`, expr)); err == nil {
			out.regexps = append(out.regexps, re)
		}
	}
	return out
}

// has tells whether a list holds an id. Of an expression that takes too long for it nobody knows; unsure is the
// answer then.
func (x *exposed) has(id string, unsure bool) bool {
	for _, g := range x.globs {
		if g.Match(id) {
			return true
		}
	}
	for _, re := range x.regexps {
		if ok, err := re.Match(id); ok || err != nil && unsure {
			return true
		}
	}
	return false
}
