package gitfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"brine/modules/fileserver"
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// folder is where copies of repositories are kept, below cachedir.
const folder = "brine_gitfs"

// Backend serves files of git repositories (fileserver_backend: gitfs). It is safe for concurrent use.
type Backend struct {
	repos []*repo
	now   func() time.Time
}

// New returns the backend of a configuration. Beside one, the error names remotes that are left out; without one it
// tells why none is served. No remote is reached yet: that is the first Update's.
func New(opts *payload.Map) (*Backend, error) {
	list, _ := opts.Value("gitfs_remotes").([]any)
	remotes, bad, fatal := parseRemotes(RoleFiles, list, opts)
	if fatal != nil {
		return nil, errors.Join(fatal, bad)
	}
	b := &Backend{now: time.Now}
	for _, r := range remotes {
		b.repos = append(b.repos, newRepo(r, filepath.Join(opts.Str("cachedir"), folder), globalLock(opts, RoleFiles)))
	}
	if len(b.repos) == 0 && bad == nil {
		bad = errors.New("fileserver_backend has gitfs, but gitfs_remotes names no repository")
	}
	return b, bad
}

// Kind makes the backend for a file server.
func Kind() fileserver.Kind {
	return fileserver.Kind{Name: RoleFiles, Make: func(opts *payload.Map) (fileserver.Backend, error) {
		b, err := New(opts)
		if b == nil {
			return nil, err
		}
		return b, err
	}}
}

// Name is "gitfs".
func (b *Backend) Name() string { return RoleFiles }

// Envs are the environments of all remotes, in order.
func (b *Backend) Envs() []string {
	set := map[string]bool{}
	for _, r := range b.repos {
		for _, env := range r.environments() {
			set[env] = true
		}
	}
	return sortedNames(set)
}

// environments are those of the references of one remote, and those that are mapped.
func (r *repo) environments() (out []string) {
	set := map[string]bool{}
	if isHex(r.base) {
		set["base"] = true
	}
	for name := range r.state().Refs {
		kind, rest, _ := strings.Cut(strings.TrimPrefix(name, "refs/"), "/")
		switch {
		case kind == "remotes" && slices.Contains(r.refTypes, "branch"):
			if _, branch, ok := strings.Cut(rest, "/"); ok {
				rest = branch
			}
			r.envsOf(rest, set)
		case kind == "tags" && slices.Contains(r.refTypes, "tag"):
			r.envsOf(rest, set)
		}
	}
	for _, envs := range r.revmap {
		for _, env := range envs {
			set[env] = true
		}
	}
	for env := range set {
		if r.exposed(env) {
			out = append(out, env)
		}
	}
	return out
}

func (r *repo) envsOf(ref string, set map[string]bool) {
	if envs, ok := r.revmap[ref]; ok {
		for _, env := range envs {
			set[env] = true
		}
	} else if ref == r.base {
		set["base"] = true
	} else if !r.noMapping {
		set[ref] = true
	}
}

// isHex tells what Python's int(text, 16) takes, as far as names of references can be that.
func isHex(s string) bool {
	s = strings.TrimPrefix(strings.ToLower(s), "0x")
	return s != "" && strings.Trim(s, "0123456789abcdef") == ""
}

// served tells whether a remote is asked for an environment.
func (r *repo) served(env string, envs []string) bool {
	return isHex(env) || r.fallback != "" || slices.Contains(envs, env)
}

// look is what a remote has for an environment; nil where it has none.
func (r *repo) look(st *state, env string) (*listing, error) {
	if !r.exposed(env) {
		return nil, nil
	}
	word, ok := r.ref(env)
	if !ok {
		return nil, nil
	}
	commit, ok := r.resolve(st, word)
	if !ok {
		return nil, nil
	}
	return r.list(st, commit)
}

// Find looks into one remote after the other. What is found is written below the cache first; where that fails, or a
// remote cannot be read, no other one answers in its place.
func (b *Backend) Find(env, name string, _ map[string]string) (fileserver.File, bool) {
	name = path.Clean(name)
	if !filepath.IsLocal(name) {
		return fileserver.File{}, false
	}
	envs := b.Envs()
	for _, r := range b.repos {
		rel, ok := name, true
		if mount := r.mountOf(env); mount != "" {
			rel, ok = strings.CutPrefix(name, mount+"/")
		}
		if !ok || !r.served(env, envs) {
			continue
		}
		st := r.state()
		l, err := r.look(st, env)
		if err != nil {
			return fileserver.File{Rel: name, Err: err}, true
		}
		if l == nil {
			continue
		}
		e, ok := l.find(path.Join(r.rootOf(env), rel))
		if !ok {
			continue
		}
		full, err := r.blob(st, e.hash)
		if err != nil {
			return fileserver.File{Rel: name, Err: err}, true
		}
		return fileserver.File{Path: full, Rel: name, Stat: []int64{e.mode}}, true
	}
	return fileserver.File{}, false
}

// Open opens a file that Find has found.
func (b *Backend) Open(_ string, f fileserver.File) (*os.File, error) {
	for _, r := range b.repos {
		if rel, ok := strings.CutPrefix(f.Path, filepath.Join(r.dir, "blobs")+"/"); ok && filepath.IsLocal(rel) {
			file, err := openPlain(f.Path)
			if errors.Is(err, os.ErrNotExist) {
				return r.again(rel)
			}
			return file, err
		}
	}
	return nil, os.ErrNotExist
}

func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// Lists are the names of an environment in all remotes.
func (b *Backend) Lists(env string) (*fileserver.Lists, error) {
	files, dirs, links := map[string]bool{}, map[string]bool{}, map[string]string{}
	var bad error
	envs := b.Envs()
	for _, r := range b.repos {
		if !r.served(env, envs) {
			continue
		}
		l, err := r.look(r.state(), env)
		bad = errors.Join(bad, err)
		if l != nil {
			l.under(r.rootOf(env), r.mountOf(env), files, dirs, links)
		}
	}
	if !isHex(env) && !slices.Contains(envs, env) { // Salt tells of links only then, of files by a fallback too
		links = map[string]string{}
	}
	return &fileserver.Lists{Files: sortedNames(files), Dirs: sortedNames(dirs), Links: links}, bad
}

// Remembered is none: what is remembered is what a commit has, and that never changes.
func (b *Backend) Remembered() []string { return nil }

// Forget has nothing to drop.
func (b *Backend) Forget(string) bool { return false }

// UpdateInterval is the shortest of all remotes (gitfs_update_interval, update_interval).
func (b *Backend) UpdateInterval() time.Duration {
	least := time.Duration(0)
	for _, r := range b.repos {
		if least == 0 || r.interval < least {
			least = r.interval
		}
	}
	return least
}

// Update fetches the remotes whose time has come, beside each other: one that hangs delays no other, and what the
// others bring is served at once. The error names each remote that failed.
func (b *Backend) Update(ctx context.Context) (*fileserver.Changes, error) {
	least := b.UpdateInterval()
	return b.fetch(ctx, func(r *repo) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.interval <= least || r.fetched.IsZero() || b.now().Sub(r.fetched) >= r.interval-time.Second
	})
}

// UpdateRemotes fetches at once the remotes whose id or name is named, all for none.
func (b *Backend) UpdateRemotes(ctx context.Context, names []string) (*fileserver.Changes, error) {
	return b.fetch(ctx, func(r *repo) bool {
		return len(names) == 0 || slices.Contains(names, r.id) || r.name != "" && slices.Contains(names, r.name)
	})
}

func (b *Backend) fetch(ctx context.Context, due func(*repo) bool) (*fileserver.Changes, error) {
	changed, err := fetchAll(ctx, b.repos, due, b.now)
	c := &fileserver.Changes{Backend: b.Name(), Changed: changed, Unnamed: true}
	return c, err
}

// fetchAll fetches repositories beside each other, and returns the ids of those that have changed.
func fetchAll(ctx context.Context, repos []*repo, due func(*repo) bool, now func() time.Time) ([]string, error) {
	var wg sync.WaitGroup
	changed, errs := make([]bool, len(repos)), make([]error, len(repos))
	for i, r := range repos {
		if !due(r) {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("fetch %s remote '%s': %v", r.role, redactURL(r.id), p)
				}
			}()
			at := now()
			changed[i], errs[i] = r.fetch(ctx)
			r.mu.Lock()
			r.fetched = at
			r.mu.Unlock()
		}()
	}
	wg.Wait()
	var ids []string
	for i, r := range repos {
		if changed[i] {
			ids = append(ids, redactURL(r.id))
		}
	}
	return ids, errors.Join(errs...)
}

// ClearCache removes all copies; the next Update fetches them anew.
func (b *Backend) ClearCache() error {
	var err error
	for _, r := range b.repos {
		err = errors.Join(err, r.clear())
	}
	return err
}

// Lock keeps updates from the remotes whose URL matches a glob, all for "", and tells of each.
func (b *Backend) Lock(glob string) ([]string, error) { return b.each(glob, (*repo).keep) }

// ClearLock lets them be updated again.
func (b *Backend) ClearLock(glob string) ([]string, error) { return b.each(glob, (*repo).unlock) }

func (b *Backend) each(glob string, do func(*repo) (string, error)) (done []string, err error) {
	for _, r := range b.repos {
		if glob != "" && !fnmatch.Compile(glob).Match(r.url) {
			continue
		}
		text, bad := do(r)
		err = errors.Join(err, bad)
		if text != "" {
			done = append(done, text)
		}
	}
	return done, err
}
