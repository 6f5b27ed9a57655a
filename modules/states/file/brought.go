package file

import (
	"maps"
	"path"
	"slices"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/host/pypath"
	"brine/wire/payload"
)

// find lists what the sources have. Of several the first one counts, unless they are merged: then what an earlier one
// has stands before what later ones have at the same place.
func (b *brought) find(sources []string) error {
	b.files, b.links = payload.NewMap(0), payload.NewMap(0)
	b.above, b.ignored = map[string]bool{}, map[string]bool{}
	direct := map[string]bool{}
	if !b.a.Merge {
		sources = sources[:1]
	}
	client, err := fileclient.For(b.c.Call)
	if err != nil {
		return err
	}
	for _, source := range sources {
		root, env := fileclient.Parse(source)
		s := &sourceDir{b: b, client: client, root: root + "/", env: cond(env != "", env, b.c.Saltenv), named: env}
		if err := s.bring(direct); err != nil {
			return err
		}
	}
	b.dirs = slices.Sorted(maps.Keys(direct))
	return nil
}

// sourceDir is one directory of the file server.
type sourceDir struct {
	b          *brought
	client     *fileclient.Client
	root       string // with a slash at its end
	env, named string
}

// bring takes what the directory has.
func (s *sourceDir) bring(direct map[string]bool) error {
	b := s.b
	names, err := s.list(payload.CmdFileList)
	if err != nil {
		return err
	}
	if b.a.KeepSymlinks {
		if names, err = s.symlinks(names, direct); err != nil {
			return err
		}
	}
	for _, name := range names {
		rel, ok, err := s.wanted(name)
		if err != nil {
			return err
		}
		dest := b.path(rel)
		if !ok || b.occupied(dest) {
			continue
		}
		b.keep = append(b.keep, dest)
		direct[pypath.Dir(dest)] = true
		for dir := pypath.Dir(dest); !b.above[dir]; dir = pypath.Dir(dir) {
			b.above[dir] = true
		}
		b.files.Set(dest, "salt://"+name+cond(s.env != "", "?saltenv="+s.env, ""))
	}
	if b.a.Empty {
		return s.empties(direct)
	}
	if b.a.KeepSymlinks {
		return s.dropLinks()
	}
	return nil
}

func (s *sourceDir) list(cmd string) ([]string, error) {
	v, err := s.client.List(s.b.c.Ctx, cmd, s.env, s.root)
	var out []string
	for _, name := range payload.Texts(v) {
		if strings.HasPrefix(name, s.root) {
			out = append(out, name)
		}
	}
	return out, err
}

// wanted is a name relative to the source, if it is one that the arguments choose.
func (s *sourceDir) wanted(name string) (rel string, ok bool, err error) {
	rel = strings.TrimPrefix(path.Clean(name), strings.TrimSuffix(s.root, "/"))
	rel = strings.TrimPrefix(rel, "/")
	if strings.TrimSpace(name) == "" || rel == "" || strings.Contains("/"+rel+"/", "/../") {
		return "", false, nil
	}
	if most, limited := s.b.a.MaxDepth.(int64); limited && int64(strings.Count(rel, "/")) > most {
		return "", false, nil
	}
	ok, err = fileclient.Chosen(rel, s.b.a.Include, s.b.a.Exclude)
	return rel, ok, err
}

// occupied tells whether an earlier source has something at a path, or a file or a link above it.
func (b *brought) occupied(dest string) bool {
	if b.above[dest] {
		return true
	}
	for name := dest; name != "/" && name != ""; name = pypath.Dir(name) {
		if b.files.Has(name) || b.links.Has(name) {
			return true
		}
	}
	return false
}

// symlinks takes links as links, and what lies behind them out of the files.
func (s *sourceDir) symlinks(names []string, direct map[string]bool) ([]string, error) {
	v, err := s.client.List(s.b.c.Ctx, payload.CmdSymlinkList, s.env, s.root)
	m, _ := v.(*payload.Map)
	if err != nil {
		return nil, err
	}
	for key, target := range m.All() {
		name, ok1 := key.(string)
		to, ok2 := target.(string)
		if !ok1 || !ok2 {
			continue
		}
		wasDir := false
		names = slices.DeleteFunc(names, func(file string) bool {
			behind := strings.HasPrefix(file, name+"/")
			wasDir = wasDir || behind
			return behind || file == name
		})
		rel, ok, err := s.wanted(name)
		if err != nil {
			return nil, err
		}
		dest := s.b.path(rel)
		if !ok || s.b.occupied(dest) {
			continue
		}
		at := pypath.Norm(pypath.Join(pypath.Dir(dest), to))
		switch {
		case wasDir && s.b.files.Has(at):
			s.b.ignored[dest] = true
		case !wasDir && direct[at]:
		default:
			s.b.links.Set(dest, to)
			s.b.keep = append(s.b.keep, dest)
		}
	}
	return names, nil
}

// empties takes directories, also those in which nothing is.
func (s *sourceDir) empties(direct map[string]bool) error {
	names, err := s.list(payload.CmdDirList)
	if err != nil {
		return err
	}
	for _, name := range names {
		rel, ok, err := s.wanted(name)
		if err != nil {
			return err
		}
		dest := s.b.path(rel)
		if ok && !s.b.ignored[dest] && !s.b.occupied(dest) {
			direct[dest], s.b.above[dest] = true, true
			s.b.keep = append(s.b.keep, dest)
		}
	}
	return nil
}

// dropLinks leaves links out that lead to directories of the source in which nothing is, and links to those.
func (s *sourceDir) dropLinks() error {
	dirs, err := s.list(payload.CmdDirList)
	if err != nil {
		return err
	}
	b := s.b
	for again := true; again; {
		again = false
		for _, key := range b.links.Keys() {
			to, _ := b.links.Value(key).(string)
			full := pypath.Norm(b.path(to))
			if !slices.Contains(dirs, path.Clean(s.root+to)) || b.files.Has(full) || b.above[full] || b.links.Has(full) {
				continue
			}
			b.links.Delete(key)
			again = true
		}
	}
	return nil
}
