package pillar

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/fileserver"
	"brine/modules/loader"
	"brine/modules/renderers/jinja"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// anyEnv is the environment of pillar_roots that stands for one that has none of its own.
const anyEnv = "__env__"

// roots are pillar_roots: environments in their order, and the directories of each. Globs among them are expanded once,
// when the compiler is made, as Salt does when it reads its configuration.
type roots struct {
	names []string
	dirs  map[string][]string
}

func newRoots(opts *payload.Map) *roots {
	r := &roots{dirs: map[string][]string{}}
	for key, value := range opts.Map("pillar_roots").All() {
		name := python.Str(key)
		list, _ := value.([]any)
		dirs := []string{}
		for _, dir := range list {
			dirs = append(dirs, expand(python.Str(dir))...)
		}
		if _, twice := r.dirs[name]; !twice {
			r.names = append(r.names, name)
		}
		r.dirs[name] = dirs
	}
	return r
}

// expand replaces a directory with wildcards by those that there are.
func expand(dir string) []string {
	if !fnmatch.HasMagic(dir) {
		return []string{dir}
	}
	found, err := filepath.Glob(dir)
	if err != nil {
		return []string{dir}
	}
	return found
}

// envs are the environments that one compilation sees.
type envs struct {
	roots *roots
	names []string // in the order of pillar_roots
	dirs  map[string][]string
	files *fileserver.Roots
	avail map[string][]string // names of SLS files; made when asked for
}

// of are the environments for a question. With an __env__ among them, it becomes the environment that is asked for.
//
// Unlike Salt: an environment whose name would lead out of the directories is none.
func (r *roots) of(pillarenv, saltenv string) *envs {
	e := &envs{roots: r, names: r.names, dirs: r.dirs, avail: map[string][]string{}}
	if general, ok := r.dirs[anyEnv]; ok {
		env := pillarenv
		if env == "" {
			env = saltenv
		}
		if env == "" {
			env = "base"
		}
		e.names, e.dirs = slices.DeleteFunc(slices.Clone(r.names), func(n string) bool {
			return n == anyEnv
		}), map[string][]string{}
		for name, dirs := range r.dirs {
			e.dirs[name] = dirs
		}
		delete(e.dirs, anyEnv)
		if _, own := r.dirs[env]; !own && filepath.IsLocal(env) && env != "." && !strings.Contains(env, "\x00") {
			e.names = append(e.names, env)
			for _, dir := range general {
				e.dirs[env] = append(e.dirs[env], strings.ReplaceAll(dir, anyEnv, env))
			}
		}
	}
	// As in Salt, links are followed wherever they lead, and nothing is ignored: the trees are the operator's.
	e.files, _ = fileserver.NewRoots(fileserver.RootsOptions{Envs: e.dirs, FollowSymlinks: true})
	return e
}

// option is pillar_roots as templates see it.
func (e *envs) option() *payload.Map {
	out := payload.NewMap(len(e.names))
	for _, name := range e.names {
		out.Set(name, payload.AnyList(e.dirs[name]))
	}
	return out
}

// all are the environments whose top files count: base in any case, and first.
func (e *envs) all() []string {
	out := []string{"base"}
	for _, name := range e.names {
		if name != "base" {
			out = append(out, name)
		}
	}
	return out
}

func (e *envs) has(env string) bool { _, ok := e.dirs[env]; return ok }

// find looks for a file in the directories of an environment; "" where it is not there.
func (e *envs) find(name, env string) string {
	if len(e.dirs[env]) == 0 {
		return ""
	}
	f, ok := e.files.Find(env, strings.TrimLeft(name, "/|"), nil)
	if !ok {
		return ""
	}
	return f.Path
}

// sls looks for an SLS file. relative is its path from the root of the environment.
func (e *envs) sls(name, env string) (file, relative string) {
	name = strings.ReplaceAll(name, ".", "/")
	for _, relative := range []string{name + ".sls", name + "/init.sls"} {
		if file := e.find(relative, env); file != "" {
			return file, relative
		}
	}
	return "", ""
}

// states are the names of all SLS files of an environment, in order; ok is false for an environment that there is not.
func (e *envs) states(env string) (names []string, ok bool, err error) {
	if !e.has(env) && env != "base" {
		return nil, false, nil
	}
	if names, ok := e.avail[env]; ok {
		return names, true, nil
	}
	lists, err := e.files.Lists(env)
	if err != nil {
		return nil, true, err
	}
	for _, file := range lists.Files {
		name, isSLS := strings.CutSuffix(file, ".sls")
		if !isSLS {
			continue
		}
		names = append(names, strings.ReplaceAll(strings.TrimSuffix(name, "/init"), "/", "."))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	e.avail[env] = names
	return names, true, nil
}

// matching are the names of SLS files that a glob means.
func (e *envs) matching(glob, env string) (names []string, ok bool, err error) {
	all, ok, err := e.states(env)
	if err != nil || !ok {
		return nil, ok, err
	}
	g := fnmatch.Compile(glob)
	for _, name := range all {
		if g.Match(name) {
			names = append(names, name)
		}
	}
	return names, true, nil
}

// templates finds what the templates of one environment import.
type templates struct {
	envs *envs
	env  string
}

// Load finds a template. A name that begins with ./ or ../ is meant from the directory of the template that asks.
func (t templates) Load(_ context.Context, name, from string) (jinja.Source, error) {
	first, _, _ := strings.Cut(name, "/")
	if first == "." || first == ".." {
		name = path.Join(from, name)
	}
	name = path.Clean(name)
	file := t.envs.find(name, t.env)
	if file == "" || strings.HasPrefix(name, "..") {
		return jinja.Source{}, jinja.ErrNotFound
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return jinja.Source{}, jinja.ErrNotFound
	}
	if wrong := python.UTF8Error(raw); wrong != "" {
		return jinja.Source{}, loader.Raise("UnicodeDecodeError", "%s", wrong)
	}
	return jinja.Source{Text: string(raw), Path: file, Name: name}, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
