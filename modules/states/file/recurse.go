package file

import (
	"fmt"
	"slices"
	"strings"

	"brine/modules/execution/file"
	"brine/modules/fileclient"
	"brine/modules/host/pypath"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type recurseArgs struct {
	Name           any          `arg:"name"`
	Source         any          `arg:"source"`
	KeepSource     any          `arg:"keep_source=True"`
	Clean          bool         `arg:"clean=False"`
	Require        any          `arg:"require=None"`
	User           any          `arg:"user=None"`
	Group          any          `arg:"group=None"`
	DirMode        any          `arg:"dir_mode=None"`
	FileMode       any          `arg:"file_mode=None"`
	SymMode        any          `arg:"sym_mode=None"`
	Template       any          `arg:"template=None"`
	Context        any          `arg:"context=None"`
	Replace        bool         `arg:"replace=True"`
	Defaults       any          `arg:"defaults=None"`
	Empty          bool         `arg:"include_empty=False"`
	Backup         any          `arg:"backup=''"`
	Include        any          `arg:"include_pat=None"`
	Exclude        any          `arg:"exclude_pat=None"`
	MaxDepth       any          `arg:"maxdepth=None"`
	KeepSymlinks   bool         `arg:"keep_symlinks=False"`
	ForceSymlinks  bool         `arg:"force_symlinks=False"`
	WinOwner       any          `arg:"win_owner=None"`
	WinPerms       any          `arg:"win_perms=None"`
	WinDeny        any          `arg:"win_deny_perms=None"`
	WinInheritance any          `arg:"win_inheritance=True"`
	Merge          bool         `arg:"merge=False"`
	KW             *payload.Map `arg:"**kwargs"`
}

// recurse brings a directory of the file server with all that is in it.
func recurse(c *states.Call, a recurseArgs) (states.Plan, error) {
	name, err := expanded(c, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	p, err := a.plan(c, name)
	p.Name = name
	given := [][2]any{{"win_owner", a.WinOwner}, {"win_perms", a.WinPerms}, {"win_deny_perms", a.WinDeny},
		{"win_inheritance", a.WinInheritance != true}}
	return withWarnings(p, useless(given)), err
}

func (a recurseArgs) plan(c *states.Call, name string) (states.Plan, error) {
	a.User = ownerOf(a.User, a.KW)
	if a.KW.Has("mode") {
		return states.Wrong("'mode' is not allowed in 'file.recurse'. Please use 'file_mode' and 'dir_mode'."), nil
	}
	a.DirMode = file.NormalMode(a.DirMode)
	if text, ok := a.FileMode.(string); !ok || !strings.EqualFold(text, "keep") {
		a.FileMode = file.NormalMode(a.FileMode)
	}
	wrong, err := unknownOwner(c, a.User, a.Group)
	switch {
	case err != nil || wrong != "":
		return states.Wrong(wrong), err
	case !strings.HasPrefix(name, "/"):
		return states.Wrong("Specified file " + name + " is not an absolute path"), nil
	}
	list, err := sourcesOf(c, a.Source)
	if err != nil {
		return states.Wrong("Recurse failed: " + loader.Message(err)), nil
	}
	if exists(name) && !isDir(name) {
		return states.Wrong("The path " + name + " exists and is not a directory"), nil
	}
	b := brought{c: c, name: name, a: a}
	if err := b.find(list); err != nil {
		return states.Plan{}, err
	}
	if err := b.look(); err != nil {
		return states.Plan{}, err
	}
	p := b.shown().plan(name)
	if p.Result == true && p.Changes.Len() == 0 {
		return p, nil
	}
	p.Apply = func() (states.Done, error) {
		made, err := b.apply()
		if err != nil {
			return states.Done{}, err
		}
		p := made.plan(name)
		return states.Done{Result: p.Result, Comment: p.Comment, Changes: p.Changes}, nil
	}
	return p, nil
}

// sourcesOf are the sources of a list that are directories of the file server.
func sourcesOf(c *states.Call, source any) ([]string, error) {
	var list []string
	switch x := source.(type) {
	case []any:
		list = payload.Texts(x)
	default:
		list = []string{python.Str(x)}
	}
	for i, s := range list {
		list[i] = strings.TrimRight(s, "/")
		if !strings.HasPrefix(list[i], "salt://") {
			return nil, loader.ExecErr("Invalid source '%s' (must be a salt:// URI)", list[i])
		}
	}
	client, err := fileclient.For(c.Call)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range list {
		dir, env := fileclient.Parse(s)
		v, err := client.List(c.Ctx, payload.CmdDirList, cond(env != "", env, c.Saltenv), "")
		if err != nil {
			return nil, err
		}
		if slices.Contains(payload.Texts(v), dir) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, loader.ExecErr("none of the specified sources were found")
	}
	return out, nil
}

// gathered is the return of many paths as one.
type gathered struct {
	Result   any
	changes  *payload.Map
	comments *payload.Map // lists of texts by path
}

// add puts the return of one path in.
func (r *gathered) add(path string, p states.Done) {
	if p.Result == false || r.Result == true {
		r.Result = p.Result
	}
	if text := loader.Text(p.Comment); p.Result != true && text != "" {
		list, _ := r.comments.Value(path).([]any)
		r.comments.Set(path, append(list, text))
	}
	if p.Changes.Len() > 0 {
		r.changes.Set(path, p.Changes)
	}
}

// plan is what the whole shows.
func (r *gathered) plan(name string) states.Plan {
	var parts []string
	for path, list := range r.comments.All() {
		parts = append(parts, fmt.Sprintf("\n#### %s ####\n%s", path, strings.Join(payload.Texts(list), "\n")))
	}
	comment := strings.TrimSpace(strings.Join(parts, "\n"))
	if comment == "" {
		comment = "Recursively updated " + name
	}
	if r.changes.Len() == 0 && python.Truth(r.Result) {
		comment = "The directory " + name + " is in the correct state"
	}
	return states.Plan{Result: r.Result, Comment: comment, Changes: r.changes}
}

// brought is what the sources say that there should be.
type brought struct {
	c    *states.Call
	name string
	a    recurseArgs

	files, links *payload.Map // by path: the URL, and the target
	dirs         []string
	keep         []string
	above        map[string]bool // directories that have something in them
	ignored      map[string]bool

	steps  []*step
	doomed unkept
}

// step is one path of the tree.
type step struct {
	path string
	plan states.Plan
	dir  bool // it is a directory, which an earlier step may make
	// obstructed says that something of another kind has to go before there can be a plan: what it is called in test
	// mode, and when it is gone.
	obstructed bool
	would, did string
	make       func() (states.Plan, error)
}

// look plans all paths.
func (b *brought) look() (err error) {
	for _, dir := range b.dirs {
		b.steps = append(b.steps, &step{path: dir, dir: !exists(dir), obstructed: exists(dir) && !isDir(dir),
			would: "Replacing " + dir + " with a directory", did: "Replaced file with a directory",
			make: func() (states.Plan, error) { return b.directory(dir) }})
	}
	for key, url := range b.files.All() {
		name := key.(string)
		b.steps = append(b.steps, &step{path: name, obstructed: isDir(name) && b.a.Replace,
			would: "Replacing directory " + name + " with a file", did: "Replaced directory with a new file",
			make: func() (states.Plan, error) { return b.file(name, url) }})
	}
	for key, target := range b.links.All() {
		b.steps = append(b.steps, &step{path: key.(string), make: func() (states.Plan, error) {
			return symlink(b.c, symlinkArgs{Name: key, Target: target, MakeDirs: true, Force: b.a.ForceSymlinks,
				User: b.a.User, Group: b.a.Group, Mode: b.a.SymMode, Follow: true, KW: payload.NewMap(0)})
		}})
	}
	for _, s := range b.steps {
		if s.obstructed = s.obstructed && b.a.Clean; s.obstructed {
			continue
		}
		if s.plan, err = s.make(); err != nil {
			return err
		}
	}
	if !b.a.Clean || !isDir(b.name) {
		return nil
	}
	kept, err := keptBy(b.c, b.name, b.a.Require)
	if err != nil {
		return err
	}
	b.doomed, err = uncleaned(b.c, b.name, append(kept, b.keep...), b.a.Exclude)
	return err
}

func newGathered() *gathered {
	return &gathered{Result: true, changes: payload.NewMap(0), comments: payload.NewMap(0)}
}

// shown is what test mode tells.
func (b *brought) shown() *gathered {
	r := newGathered()
	for _, s := range b.steps {
		d := states.Done{Result: s.plan.Result, Comment: s.plan.Comment, Changes: s.plan.Changes}
		if s.obstructed {
			d = states.Done{Comment: s.would}
		}
		r.add(s.path, d)
	}
	if len(b.doomed.top) > 0 {
		if python.Truth(r.Result) {
			r.Result = nil
		}
		r.comments.Set("removed", payload.AnyList(b.doomed.all))
	}
	return r
}

// apply does what was planned, one path after the other.
func (b *brought) apply() (*gathered, error) {
	if !isDir(b.name) {
		if err := file.MakeDirsPerms(b.c.Call, b.name, b.a.User, b.a.Group, b.a.DirMode); err != nil {
			return nil, err
		}
	}
	r := newGathered()
	for _, s := range b.steps {
		if err := b.c.Ctx.Err(); err != nil {
			return nil, loader.ExecErr("the run was ended: %v", err)
		}
		if err := s.apply(r); err != nil {
			return nil, err
		}
	}
	removed, err := removeTrees(b.doomed.top)
	if len(removed) > 0 {
		r.changes.Set("removed", payload.AnyList(removed))
	}
	if err != nil {
		r.add("removed", states.Done{Result: false, Comment: loader.Message(err)})
	}
	return r, nil
}

// apply does what was planned for one path.
func (s *step) apply(r *gathered) (err error) {
	if s.obstructed {
		if err := safefile.Remove(s.path); err != nil {
			return err
		}
		r.add(s.path, states.Done{Result: true, Changes: payload.M("diff", s.did)})
		if s.plan, err = s.make(); err != nil {
			return err
		}
	}
	if s.dir && isDir(s.path) { // it was made meanwhile
		if s.plan, err = s.make(); err != nil {
			return err
		}
	}
	d := states.Done{Result: s.plan.Result, Comment: s.plan.Comment, Changes: s.plan.Changes}
	if s.plan.Apply != nil {
		if d, err = s.plan.Apply(); err != nil {
			return err
		}
	}
	r.add(s.path, d)
	return nil
}

func (b *brought) directory(name string) (states.Plan, error) {
	return directory(b.c, directoryArgs{Name: name, User: b.a.User, Group: b.a.Group, Recurse: []any{},
		DirMode: b.a.DirMode, MakeDirs: true, AllowSymlink: true, WinInheritance: true, KW: payload.NewMap(0)})
}

func (b *brought) file(name string, url any) (states.Plan, error) {
	kw := payload.M("source", url, "keep_source", b.a.KeepSource, "user", b.a.User, "group", b.a.Group, "mode",
		b.a.FileMode, "template", b.a.Template, "makedirs", true, "replace", b.a.Replace, "context", b.a.Context,
		"defaults", b.a.Defaults, "backup", b.a.Backup)
	for key, v := range loader.CleanKWArgs(b.a.KW).All() {
		if key != any("mode") && key != any("makedirs") && !kw.Has(key) {
			kw.Set(key, v)
		}
	}
	a, err := loader.Filled[managedArgs](kw.Set("name", name))
	if err != nil {
		return states.Plan{}, err
	}
	return managed(b.c, a)
}

// keptOfRecurse are the paths that another state file.recurse manages.
func keptOfRecurse(c *states.Call, low *payload.Map) ([]string, error) {
	list, err := sourcesOf(c, low.Value("source"))
	if err != nil {
		return nil, nil
	}
	b := brought{c: c, name: python.Str(low.Value("name")), a: recurseArgs{Include: low.Value("include_pat"),
		Exclude: low.Value("exclude_pat"), MaxDepth: low.Value("maxdepth"), Empty: python.Truth(low.Value("include_empty")),
		KeepSymlinks: python.Truth(low.Value("keep_symlinks")), Merge: python.Truth(low.Value("merge"))}}
	if err := b.find(list); err != nil {
		return nil, err
	}
	return b.keep, nil
}

// path is where something of the file server goes.
func (b *brought) path(rel string) string { return pypath.Join(b.name, rel) }
