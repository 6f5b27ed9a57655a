package gitfs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/wire/payload"
	"brine/wire/python"
)

// Pillars keeps the repositories of the git external pillars of a master. Trees are taken from what was fetched before:
// a pillar waits for no fetch, and nobody who asks for a pillar can name a repository that the master does not. It is
// safe for concurrent use.
type Pillars struct {
	opts  *payload.Map
	repos []*repo
	every time.Duration
	log   func(slog.Level, string)
}

// NewPillars reads the entries git of ext_pillar; it is nil where there is none. The error names what is wrong with one
// of them: a master then refuses to start, unless git_pillar_verify_config is off.
func NewPillars(opts *payload.Map, log func(slog.Level, string)) (*Pillars, error) {
	var list []any
	entries, _ := opts.Value("ext_pillar").([]any)
	for _, entry := range entries {
		m, _ := entry.(*payload.Map)
		if m.Len() > 0 && m.Keys()[0] == any("git") {
			switch remotes := m.Value("git").(type) {
			case []any:
				list = append(list, remotes...)
			case string: // one by itself, as Salt hands it to its pillar
				list = append(list, remotes)
			default:
				return nil, errors.New("ext_pillar: git is no list of repositories")
			}
		}
	}
	if list == nil {
		return nil, nil
	}
	p := &Pillars{opts: opts, log: log}
	seconds, err := strconv.Atoi(python.Str(option(opts, RolePillar, "update_interval")))
	if err != nil || seconds <= 0 {
		seconds = 60
	}
	p.every = time.Duration(seconds) * time.Second
	for _, entry := range list {
		remotes, bad, fatal := parseRemotes(RolePillar, []any{entry}, opts)
		err = errors.Join(bad, fatal)
		if err != nil {
			return nil, err
		}
		for _, r := range remotes {
			if len(r.idle) > 0 {
				log(slog.LevelWarn, fmt.Sprintf("git_pillar remote '%s': %s is not honoured, by Salt neither: a "+
					"branch is looked for, then a tag", redactURL(r.id), strings.Join(r.idle, ", ")))
			}
			if p.repo(r) == nil {
				p.repos = append(p.repos, newRepo(r, filepath.Join(opts.Str("cachedir"), folder),
					globalLock(opts, RolePillar)))
			}
		}
	}
	return p, nil
}

// repo is the copy for a remote; nil where there is none.
func (p *Pillars) repo(r *remote) *repo {
	for _, known := range p.repos {
		if known.key() == r.key() && known.url == r.url {
			return known
		}
	}
	return nil
}

// Interval is the time from one update to the next (git_pillar_update_interval).
func (p *Pillars) Interval() time.Duration { return p.every }

// Update fetches all repositories beside each other. The error names each that failed.
func (p *Pillars) Update(ctx context.Context) error {
	_, err := fetchAll(ctx, p.repos, func(*repo) bool { return true }, time.Now)
	for _, r := range p.repos {
		err = errors.Join(err, r.sweep())
	}
	return err
}

// Fetched is what came of the update of one repository. The ID is without user and password of its URL: unlike Salt,
// where the bus and the job cache get them.
type Fetched struct {
	ID      string
	Changed bool
	Err     error
}

// UpdateSome fetches the repositories of a branch and of a URL or name, "" for any, as the runner git_pillar.update
// does.
func (p *Pillars) UpdateSome(ctx context.Context, branch, repo string) (out []Fetched) {
	for _, r := range p.repos {
		if branch != "" && branch != r.branch || repo != "" && repo != r.url && repo != r.name {
			continue
		}
		changed, err := r.fetch(ctx)
		out = append(out, Fetched{redactURL(r.id), changed, err})
	}
	return out
}

// Tree is a folder with SLS files for one environment.
type Tree struct {
	Dir     string
	Env     string
	Mounted bool // it has no top file of its own, and is there for others to include
}

// Trees are those of some remotes (the arguments of ext_pillar: git), in order. A branch or root that is not there is
// left out, and the log tells, as with Salt; a repository that was never fetched is an error.
func (p *Pillars) Trees(remotes []any, pillarenv, saltenv string) ([]Tree, error) {
	parsed, bad, fatal := parseRemotes(RolePillar, remotes, p.opts)
	if err := errors.Join(bad, fatal); err != nil {
		return nil, err
	}
	env := pillarenv
	if env == "" {
		env = saltenv
	}
	if env == "" {
		env = "base"
	}
	var out []Tree
	for _, r := range parsed {
		copied := p.repo(r)
		if copied == nil {
			return nil, fmt.Errorf("git_pillar remote '%s' is not among those of the master's ext_pillar",
				redactURL(r.id))
		}
		t, err := copied.tree(r, env)
		if err != nil {
			return nil, fmt.Errorf("git_pillar remote '%s': %w", redactURL(r.id), err)
		}
		if t.Dir == "" {
			p.log(slog.LevelError, fmt.Sprintf("git_pillar remote '%s' has no branch or tag %s, or no root %s in "+
				"it: it is left out", redactURL(r.id), r.target(env), payload.Show(r.root)))
			continue
		}
		out = append(out, t)
	}
	return out, nil
}

// target is the branch or tag that is looked for.
func (r *remote) target(env string) string {
	switch {
	case r.branch != anyEnv:
		return r.branch
	case r.allSaltenvs != nil:
		return *r.allSaltenvs
	case env == "base":
		return r.base
	}
	return env
}

// envOf is the pillar environment of a remote.
func (r *remote) envOf(env string) string {
	target := r.target(env)
	switch {
	case r.branch == anyEnv && r.allSaltenvs != nil:
		return env
	case r.env != "":
		return r.env
	case r.branch == r.base || target == r.base:
		return "base"
	}
	return target
}

// tree is the folder of a remote for an environment; it has no Dir where there is none.
func (r *repo) tree(want *remote, env string) (Tree, error) {
	st := r.state()
	if st.Objects == "" {
		return Tree{}, errors.New("the repository has not been fetched yet")
	}
	t := Tree{Env: want.envOf(env), Mounted: want.mountpoint != ""}
	for _, word := range []string{want.target(env), want.fallback} {
		for _, kind := range []string{"branch", "tag"} {
			h, ok := r.byKind(st, kind, word)
			if word == "" || !ok {
				continue
			}
			dir, err := r.checkout(st, h)
			if errors.Is(err, errNoCommit) {
				continue
			}
			if err != nil {
				return Tree{}, err
			}
			root := filepath.Join(dir, want.root)
			if info, err := os.Stat(root); err != nil || !info.IsDir() ||
				!filepath.IsLocal(filepath.Join(".", want.root)) {
				return Tree{}, nil
			}
			if t.Dir = root; t.Mounted {
				t.Dir, err = r.mount(root, want.mountpoint)
			}
			return t, err
		}
	}
	return Tree{}, nil
}

// mount makes a folder in which another one appears below a path.
func (r *repo) mount(dir, point string) (string, error) {
	if !filepath.IsLocal(point) {
		return "", fmt.Errorf("mountpoint %s leads elsewhere", payload.Show(point))
	}
	sum := sha256.Sum256([]byte(dir + "\x00" + point))
	top := filepath.Join(r.dir, "links", hex.EncodeToString(sum[:16]))
	link := filepath.Join(top, point)
	if to, err := os.Readlink(link); err == nil && to == dir {
		return top, nil
	}
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return "", err
	}
	if err := os.Symlink(dir, link); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return top, nil
}

// sweep removes trees that no reference means any more, an hour after they were last used. It is done by the process
// that fetches.
func (r *repo) sweep() error {
	st := r.state()
	r.mu.Lock()
	defer r.mu.Unlock()
	found, err := os.ReadDir(filepath.Join(r.dir, "trees"))
	if err != nil || st.Objects == "" {
		return nil
	}
	o, err := r.open(st)
	if err != nil {
		return nil
	}
	var current []string
	for _, h := range st.Refs {
		if tree, err := o.treeOf(hashOf(h)); err == nil {
			current = append(current, tree.String())
		}
	}
	if r.used == nil {
		r.used = map[string]time.Time{}
	}
	var bad error
	for _, e := range found {
		last, known := r.used[e.Name()]
		if !known {
			r.used[e.Name()] = time.Now()
		}
		if known && time.Since(last) > time.Hour && !slices.Contains(current, strings.TrimSuffix(e.Name(), ".tmp")) {
			delete(r.used, e.Name())
			bad = errors.Join(bad, os.RemoveAll(filepath.Join(r.dir, "trees", e.Name())))
		}
	}
	return bad
}
