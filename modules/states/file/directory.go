package file

import (
	"fmt"
	"os"
	"strings"

	"brine/modules/execution/file"
	"brine/modules/host/pypath"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type directoryArgs struct {
	Name           any          `arg:"name"`
	User           any          `arg:"user=None"`
	Group          any          `arg:"group=None"`
	Recurse        any          `arg:"recurse=None"`
	MaxDepth       any          `arg:"max_depth=None"`
	DirMode        any          `arg:"dir_mode=None"`
	FileMode       any          `arg:"file_mode=None"`
	MakeDirs       bool         `arg:"makedirs=False"`
	Clean          bool         `arg:"clean=False"`
	Require        any          `arg:"require=None"`
	Exclude        any          `arg:"exclude_pat=None"`
	Follow         bool         `arg:"follow_symlinks=False"`
	Force          bool         `arg:"force=False"`
	BackupName     any          `arg:"backupname=None"`
	AllowSymlink   bool         `arg:"allow_symlink=True"`
	ChildrenOnly   bool         `arg:"children_only=False"`
	WinOwner       any          `arg:"win_owner=None"`
	WinPerms       any          `arg:"win_perms=None"`
	WinDeny        any          `arg:"win_deny_perms=None"`
	WinInheritance any          `arg:"win_inheritance=True"`
	WinReset       any          `arg:"win_perms_reset=False"`
	KW             *payload.Map `arg:"**kwargs"`
}

// directory makes a directory, and gives it and what is in it owners and modes.
func directory(c *states.Call, a directoryArgs) (states.Plan, error) {
	name, err := expanded(c, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	given := [][2]any{{"win_owner", a.WinOwner}, {"win_perms", a.WinPerms}, {"win_deny_perms", a.WinDeny},
		{"win_inheritance", a.WinInheritance != true}, {"win_perms_reset", a.WinReset}}
	dir := name
	if len(dir) > 1 {
		dir = strings.TrimSuffix(dir, "/")
	}
	p, err := a.plan(c, dir)
	p.Name = name
	return withWarnings(p, useless(append(given, unknown(a.KW, "mode", "owner")...))), err
}

// plan goes through what can be wrong with the arguments, in Salt's order.
func (a directoryArgs) plan(c *states.Call, name string) (states.Plan, error) {
	switch {
	case name == "":
		return states.Wrong("Must provide name to file.directory"), nil
	case a.MaxDepth != nil && a.Clean:
		return states.Wrong("Cannot specify both max_depth and clean"), nil
	}
	a.User = ownerOf(a.User, a.KW)
	if mode, ok := a.KW.Get("mode"); ok && !python.Truth(a.DirMode) {
		a.DirMode = mode
	}
	if !python.Truth(a.FileMode) {
		a.FileMode = a.DirMode
	}
	a.DirMode, a.FileMode = file.NormalMode(a.DirMode), file.NormalMode(a.FileMode)
	if wrong, err := unknownOwner(c, a.User, a.Group); err != nil || wrong != "" {
		return states.Wrong(wrong), err
	}
	if !strings.HasPrefix(name, "/") {
		return states.Wrong("Specified file " + name + " is not an absolute path"), nil
	}
	way, wrong := a.inTheWay(name)
	if wrong != "" {
		return states.Wrong(wrong), nil
	}
	t := &tree{a: a, name: name, changes: payload.NewMap(0), missing: way.what != "" || !isDir(name)}
	if err := t.look(c); err != nil {
		return states.Wrong(loader.Message(err)), nil
	}
	return t.plan(c, way)
}

// obstacle is a file or a link that stands where the directory should be.
type obstacle struct {
	backup     string // where it goes; "" for nowhere
	overBackup bool   // what stands at the backup is removed
	what       string // "File", "Symlink"; "" where nothing is in the way
}

// inTheWay tells what has to go before there can be a directory, or why it cannot.
func (a directoryArgs) inTheWay(name string) (o obstacle, wrong string) {
	link := isLink(name)
	if !isFile(name) && !(link && (!a.AllowSymlink || a.Force)) {
		return o, ""
	}
	o.what = cond(isFile(name), "File", "Symlink")
	switch {
	case a.BackupName != nil:
		o.backup = loader.Text(a.BackupName)
		if o.overBackup = there(o.backup); o.overBackup && !a.Force {
			return o, "File exists where the backup target " + o.backup + " should go"
		}
	case a.Force:
	case isFile(name):
		return o, "Specified location " + name + " exists and is a file"
	default:
		return o, "Specified location " + name + " exists and is a symlink"
	}
	return o, ""
}

// clear takes it away, and tells what it did.
func (o obstacle) clear(name string, changes *payload.Map) error {
	if o.what == "" {
		return nil
	}
	if o.backup == "" {
		changes.Set("forced", o.what+" was forcibly replaced")
		return safefile.Remove(name)
	}
	if o.overBackup {
		if err := safefile.Remove(o.backup); err != nil {
			return err
		}
	}
	return safefile.Rename(name, o.backup)
}

// tree is a directory and what was found in it.
type tree struct {
	a       directoryArgs
	name    string
	what    recursion
	root    *file.Fix   // of the directory itself; nil: it is as it should be
	fixes   []*file.Fix // of what is in it
	doomed  unkept      // what is to be removed
	missing bool        // there is no directory
	changes *payload.Map
}

// recursion says what is done to what is in a directory (recurse).
type recursion map[string]bool

var recurseTypes = []string{"user", "group", "mode", "ignore_files", "ignore_dirs", "silent"}

func recursionOf(v any) (recursion, error) {
	out := recursion{}
	if !python.Truth(v) {
		return out, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, loader.Raise("TypeError", `"recurse" must be formed as a list of strings`)
	}
	known := map[any]bool{}
	for _, kind := range recurseTypes {
		known[kind] = true
	}
	for _, v := range list {
		text, ok := v.(string)
		if !ok || !known[text] {
			return nil, loader.Raise("ValueError", "%s", `Types for "recurse" limited to "`+
				strings.Join(recurseTypes, `", "`)+`".`)
		}
		out[text] = true
	}
	if out["ignore_files"] && out["ignore_dirs"] {
		return nil, loader.Raise("ValueError", `Must not specify "recurse" options "ignore_files" and "ignore_dirs" at `+
			`the same time.`)
	}
	return out, nil
}

// perms are what something in the directory should have.
func (t *tree) perms(mode any) file.Perms {
	p := file.Perms{Mode: mode, Follow: t.a.Follow}
	if t.what["user"] {
		p.User = t.a.User
	}
	if t.what["group"] {
		p.Group = t.a.Group
	}
	if !t.what["mode"] {
		p.Mode = nil
	}
	return p
}

// own are what the directory itself should have. Salt takes the narrower wishes of recurse for it in test mode.
func (t *tree) own() file.Perms {
	return file.Perms{User: t.a.User, Group: t.a.Group, Mode: t.a.DirMode, Follow: t.a.Follow}
}

// look finds what is not as it should be.
func (t *tree) look(c *states.Call) (err error) {
	if t.what, err = recursionOf(t.a.Recurse); err != nil {
		return err
	}
	if len(t.what) > 0 && !t.missing {
		if err := t.walk(c); err != nil {
			return err
		}
	}
	if !t.a.ChildrenOnly && !t.missing {
		if t.root, err = t.own().FixOf(c.Call, t.name); err != nil {
			return err
		}
		if t.root != nil {
			t.note(t.name, t.root.Show())
		}
	}
	if t.a.Clean && !t.missing {
		keep, err := keptBy(c, t.name, t.a.Require)
		if err != nil {
			return err
		}
		if t.doomed, err = uncleaned(c, t.name, keep, t.a.Exclude); err != nil {
			return err
		}
		for _, name := range t.doomed.all {
			t.note(name, payload.M("removed", "Removed due to clean"))
		}
	}
	if t.missing {
		t.note(t.name, payload.M("directory", "new"))
	}
	return nil
}

// note keeps what differs of a path.
func (t *tree) note(name string, changes *payload.Map) {
	t.changes.Set(name, changes)
}

// walk compares all that is in the directory.
func (t *tree) walk(c *states.Call) error {
	depth, limited := t.a.MaxDepth.(int64)
	files, dirs := t.perms(t.a.FileMode), t.perms(t.a.DirMode)
	return file.Walk(c.Ctx, t.name, func(dir string, subs, names []string, at int) error {
		if limited && int64(at) >= depth {
			return nil
		}
		for _, x := range []struct {
			skip  bool
			names []string
			p     file.Perms
		}{{t.what["ignore_files"], names, files}, {t.what["ignore_dirs"], subs, dirs}} {
			for _, name := range x.names {
				if x.skip {
					break
				}
				full := pypath.Join(dir, name)
				fix, err := x.p.FixOf(c.Call, full)
				if err != nil {
					continue // it is gone by now
				}
				if fix != nil {
					t.fixes = append(t.fixes, fix)
					t.note(full, fix.Show())
				}
			}
		}
		return nil
	})
}

// told is the comment of test mode.
func (t *tree) told() string {
	text := "The following files will be changed:\n"
	for name, v := range t.changes.All() {
		m, _ := v.(*payload.Map)
		for key, v := range m.All() {
			text += fmt.Sprintf("%s: %s - %s\n", name, key, python.Str(v))
		}
	}
	return text
}

// plan is what follows from what was found.
func (t *tree) plan(c *states.Call, way obstacle) (states.Plan, error) {
	if t.changes.Len() == 0 && way.what == "" {
		return states.Correct("The directory " + t.name + " is in the correct state"), nil
	}
	shown := payload.NewMap(0)
	comment := t.told()
	switch {
	case way.what == "":
	case way.backup != "":
		if way.overBackup {
			shown.Set("forced", "Existing file at backup path "+way.backup+" would be removed")
		}
		shown.Set("backup", t.name+" would be renamed to "+way.backup)
		comment = t.name + " would be backed up and replaced with a new directory"
		t.changes = payload.M(t.name, payload.M("directory", "new"))
	default:
		shown.Set("forced", way.what+" would be forcibly replaced")
	}
	shown.Update(t.changes)
	return states.Would(comment, shown, func() (states.Done, error) {
		ret := file.NewRet()
		if err := way.clear(t.name, ret.Changes); err != nil {
			return states.Done{}, err
		}
		ret.Changes.Update(t.changes)
		err := t.apply(c, ret)
		return done(ret), err
	}), nil
}

// apply makes the directory, or changes what is not as it should be.
func (t *tree) apply(c *states.Call, ret *file.Ret) error {
	if t.missing {
		return t.create(c, ret)
	}
	if t.root != nil {
		if err := t.root.Apply(c.Call, ret); err != nil {
			return err
		}
	}
	t.unnamed(ret)
	if t.what["silent"] {
		ret.Changes = payload.M("recursion", "Changes silenced")
	}
	var trouble []string
	for _, fix := range t.fixes {
		if err := fix.Apply(c.Call, ret); err != nil && there(fix.Path) {
			trouble = append(trouble, loader.Message(err))
		}
	}
	if len(t.doomed.top) > 0 {
		removed, err := removeTrees(t.doomed.top)
		if len(removed) > 0 {
			ret.Changes.Set("removed", payload.AnyList(removed))
			ret.Comment = "Files cleaned from directory " + t.name
		}
		if err != nil {
			trouble = append(trouble, loader.Message(err))
		}
	}
	if ret.Comment == "" {
		ret.Comment = cond(t.a.ChildrenOnly, "Directory "+t.name+"/* updated", "Directory "+t.name+" updated")
	}
	if len(trouble) > 0 {
		ret.Result = false
		ret.Comment += "\n\nThe following errors were encountered:\n"
		for _, text := range trouble {
			ret.Comment += "\n- " + text
		}
	}
	return nil
}

// unnamed fails where owners below are to be enforced, and none is named.
func (t *tree) unnamed(ret *file.Ret) {
	for _, x := range []struct {
		key string
		v   any
	}{{"user", t.a.User}, {"group", t.a.Group}} {
		if _, number := x.v.(int64); t.what[x.key] && !number && !python.Truth(x.v) {
			ret.Fail(x.key + " not specified, but configured as a target for recursive ownership management")
		}
	}
}

// create makes the directory.
func (t *tree) create(c *states.Call, ret *file.Ret) error {
	if above := pypath.Dir(t.name); !isDir(above) {
		if !t.a.MakeDirs {
			ret.Fail("No directory to create " + t.name + " in")
			return nil
		}
		if err := file.MakeDirs(c.Call, t.name, t.a.User, t.a.Group, t.a.DirMode); err != nil {
			return err
		}
	}
	if err := file.Mkdir(c.Call, t.name, t.a.User, t.a.Group, t.a.DirMode); err != nil && !os.IsExist(err) {
		return err
	}
	if !isDir(t.name) {
		ret.Fail("Failed to create directory " + t.name)
	}
	return nil
}

// removeTrees removes trees, and tells which are gone.
func removeTrees(names []string) (removed []string, err error) {
	for _, name := range names {
		if e := safefile.Remove(name); e != nil && there(name) {
			err = e
			continue
		}
		removed = append(removed, name)
	}
	return removed, err
}
