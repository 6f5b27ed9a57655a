package file

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"brine/modules/execution/file"
	"brine/modules/host/environ"
	"brine/modules/host/pypath"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// anyPath is a path, and keywords that no function has a parameter for.
type anyPath struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

// on makes a state function of a path.
func on(plan func(c *states.Call, name string) (states.Plan, error)) func(*states.Call, anyPath) (states.Plan, error) {
	return func(c *states.Call, a anyPath) (states.Plan, error) {
		name, err := expanded(c, a.Name)
		if err != nil {
			return states.Plan{}, err
		}
		p, err := plan(c, name)
		p.Name = name
		return withWarnings(p, useless(unknown(a.KW))), err
	}
}

// absent removes a file, a link, or a directory with all that is in it.
func absent(_ *states.Call, name string) (states.Plan, error) {
	kind := "File"
	switch {
	case name == "":
		return states.Wrong("Must provide name to file.absent"), nil
	case !strings.HasPrefix(name, "/"):
		return states.Wrong("Specified file " + name + " is not an absolute path"), nil
	case pypath.Norm(name) == "/":
		return states.Wrong(`Refusing to make "/" absent`), nil
	case isFile(name) || isLink(name):
	case isDir(name):
		kind = "Directory"
	case there(name): // a pipe or a device, which Salt takes for nothing
	default:
		return states.Correct("File " + name + " is not present"), nil
	}
	changes := payload.M("removed", name)
	return states.Would(kind+" "+name+" is set for removal", changes, func() (states.Done, error) {
		if err := safefile.Remove(name); err != nil {
			return states.Failed("Could not remove '"+name+"': "+loader.Message(err), nil)
		}
		return states.Changed("Removed "+strings.ToLower(kind)+" "+name, changes)
	}), nil
}

func isThere(_ *states.Call, name string) (states.Plan, error) {
	switch {
	case name == "":
		return states.Wrong("Must provide name to file.exists"), nil
	case !exists(name):
		return states.Wrong("Specified path " + name + " does not exist"), nil
	}
	return states.Correct("Path " + name + " exists"), nil
}

func isMissing(_ *states.Call, name string) (states.Plan, error) {
	switch {
	case name == "":
		return states.Wrong("Must provide name to file.missing"), nil
	case exists(name):
		return states.Wrong("Specified path " + name + " exists"), nil
	}
	return states.Correct("Path " + name + " is missing"), nil
}

type touchArgs struct {
	Name     any  `arg:"name"`
	ATime    any  `arg:"atime=None"`
	MTime    any  `arg:"mtime=None"`
	MakeDirs bool `arg:"makedirs=False"`
}

// touch makes an empty file, or sets the times of one.
func touch(c *states.Call, a touchArgs) (states.Plan, error) {
	name, err := expanded(c, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	p, err := a.plan(c, name)
	p.Name = name
	return p, err
}

func (a touchArgs) plan(c *states.Call, name string) (states.Plan, error) {
	switch {
	case name == "":
		return states.Wrong("Must provide name to file.touch"), nil
	case !strings.HasPrefix(name, "/"):
		return states.Wrong("Specified file " + name + " is not an absolute path"), nil
	}
	p := states.Plan{Comment: "File " + name + " is set to be created", Changes: payload.M("new", name)}
	if exists(name) {
		stats, err := c.Salt("file.stats", payload.M("follow_symlinks", false), name)
		if err != nil {
			return states.Plan{}, err
		}
		m, _ := stats.(*payload.Map)
		if other(a.ATime, m.Value("atime")) || other(a.MTime, m.Value("mtime")) {
			p.Comment, p.Changes = "Times set to be updated on file "+name, payload.M("touched", name)
		} else {
			p = states.Plan{Result: true, Comment: "File " + name + " exists and has the correct times",
				Changes: payload.M("new", name)} // Salt's test mode has changes even so
		}
	}
	p.Apply = func() (states.Done, error) { return a.apply(c, name) }
	return p, nil
}

// other tells whether a time is wanted that is not the one.
func other(want, is any) bool { return want != nil && python.Str(want) != python.Str(is) }

func (a touchArgs) apply(c *states.Call, name string) (states.Done, error) {
	dir := pypath.Dir(name)
	if a.MakeDirs {
		if err := file.MakeDirs(c.Call, name, nil, nil, nil); err != nil {
			return states.Done{}, err
		}
	}
	if !isDir(dir) {
		return states.Failed("Directory not present to touch file "+name, nil)
	}
	before := exists(name)
	if _, err := file.Touch(name, a.ATime, a.MTime); err != nil {
		return states.Done{}, err
	}
	if !before {
		return states.Changed("Created empty file "+name, payload.M("new", name))
	}
	return states.Changed("Updated times on "+cond(isDir(name), "directory ", "file ")+name, payload.M("touched", name))
}

type copyArgs struct {
	Name     any          `arg:"name"`
	Source   any          `arg:"source"`
	Force    bool         `arg:"force=False"`
	MakeDirs bool         `arg:"makedirs=False"`
	Preserve bool         `arg:"preserve=False"`
	User     any          `arg:"user=None"`
	Group    any          `arg:"group=None"`
	Mode     any          `arg:"mode=None"`
	DirMode  any          `arg:"dir_mode=None"`
	Subdir   bool         `arg:"subdir=False"`
	KW       *payload.Map `arg:"**kwargs"`
}

// copyFile copies a file or a directory of this minion.
func copyFile(c *states.Call, a copyArgs) (states.Plan, error) {
	name, err := expanded(c, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	source, err := expanded(c, a.Source)
	if err != nil {
		return states.Plan{}, err
	}
	p, err := a.plan(c, name, source)
	p.Name = name
	return withWarnings(p, useless(unknown(a.KW, "owner"))), err
}

func (a copyArgs) plan(c *states.Call, name, source string) (states.Plan, error) {
	switch {
	case name == "":
		return states.Wrong("Must provide name to file.copy"), nil
	case !strings.HasPrefix(name, "/"):
		return states.Wrong("Specified file " + name + " is not an absolute path"), nil
	case !exists(source):
		return states.Wrong(`Source file "` + source + `" is not present`), nil
	}
	p, wrong, err := a.perms(c, source)
	if err != nil || wrong != "" {
		return states.Wrong(wrong), err
	}
	dest := name
	if a.Subdir && isDir(name) {
		dest = pypath.Join(name, pypath.Base(source))
	}
	if there(dest) && !a.Force {
		return states.Correct(`The target file "` + dest + `" exists and will not be overwritten`), nil
	}
	return states.Plan{Comment: fmt.Sprintf(`File "%s" is set to be copied to "%s"`, source, dest),
		Apply: func() (states.Done, error) { return a.apply(c, name, dest, source, p) }}, nil
}

// perms are owner and mode of the copy: those of the source, or those that are named.
func (a copyArgs) perms(c *states.Call, source string) (p file.Perms, wrong string, err error) {
	mode, err := c.Salt("file.get_mode", nil, source)
	if err != nil {
		return p, "", err
	}
	p = file.Perms{Mode: file.NormalMode(a.Mode)}
	if a.Mode == nil || a.Preserve {
		p.Mode = mode
	}
	if a.Preserve {
		if p.User, err = c.Salt("file.get_user", nil, source); err == nil {
			p.Group, err = c.Salt("file.get_group", nil, source)
		}
		return p, "", err
	}
	if p.User, p.Group, err = ownGroup(c, ownerOf(a.User, a.KW), a.Group); err != nil {
		return p, "", err
	}
	wrong, err = unknownOwner(c, p.User, p.Group)
	return p, wrong, err
}

func (a copyArgs) apply(c *states.Call, name, dest, source string, p file.Perms) (states.Done, error) {
	comment := fmt.Sprintf(`Copied "%s" to "%s"`, source, name)
	if there(dest) {
		if isFile(dest) && isFile(source) && sameContent(c, dest, source) {
			comment += " - files are identical but force flag is set"
		}
		if isDir(dest) || isDir(source) { // a file is replaced at once
			if err := safefile.Remove(dest); err != nil {
				return states.Failed(fmt.Sprintf(`Failed to delete "%s" in preparation for forced move`, dest), nil)
			}
		}
	}
	if dir := pypath.Dir(dest); !isDir(dir) {
		if !a.MakeDirs {
			return states.Failed("The target directory "+dir+" is not present", nil)
		}
		mode := a.DirMode
		if mode == nil && p.Mode != nil {
			mode = file.DirModeFor(python.Str(p.Mode))
		}
		if err := file.MakeDirs(c.Call, dest, p.User, p.Group, mode); err != nil {
			return states.Done{}, err
		}
	}
	ret := file.NewRet()
	ret.Comment = comment
	ret.Changes.Set(dest, source)
	if err := a.carry(c, dest, source, p, ret); err != nil {
		var system *fs.PathError
		if errors.As(err, &system) {
			return states.Failed(fmt.Sprintf(`Failed to copy "%s" to "%s"%s`, source, dest, planted(err)), nil)
		}
		return states.Done{}, err
	}
	return done(ret), nil
}

// planted adds to a comment of Salt's what Salt has no word for: a link that another user has made.
func planted(err error) string {
	if errors.Is(err, safefile.ErrLink) {
		return ": " + err.Error()
	}
	return ""
}

// carry copies, and gives the copy its owner and its mode.
func (a copyArgs) carry(c *states.Call, dest, source string, p file.Perms, ret *file.Ret) error {
	if isDir(source) {
		if err := file.CopyTree(c.Call, source, dest, true); err != nil {
			return err
		}
		err := file.Walk(c.Ctx, dest, func(dir string, dirs, names []string, _ int) error {
			for _, name := range append(dirs, names...) {
				own := file.Perms{User: p.User, Group: p.Group}
				if err := own.Enforce(c.Call, pypath.Join(dir, name), file.NewRet()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || a.Preserve {
			return err
		}
		return p.Enforce(c.Call, dest, ret)
	}
	if a.Preserve { // as cp does, without an option: the mode, and not the owner
		p.User, p.Group = nil, nil
		return p.CopyFile(c.Call, source, dest, file.NewRet())
	}
	return p.CopyFile(c.Call, source, dest, ret)
}

// sameContent compares two files.
func sameContent(c *states.Call, a, b string) bool {
	x, err1 := c.Salt("file.get_hash", nil, a)
	y, err2 := c.Salt("file.get_hash", nil, b)
	return err1 == nil && err2 == nil && x == y
}

type renameArgs struct {
	Name     any          `arg:"name"`
	Source   any          `arg:"source"`
	Force    bool         `arg:"force=False"`
	MakeDirs bool         `arg:"makedirs=False"`
	KW       *payload.Map `arg:"**kwargs"`
}

// rename moves a file or a directory of this minion.
func rename(c *states.Call, a renameArgs) (states.Plan, error) {
	name, err := expanded(c, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	source, err := expanded(c, a.Source)
	if err != nil {
		return states.Plan{}, err
	}
	variable := environ.Of(c.Ctx).Get
	name, source = pypath.ExpandVars(name, variable), pypath.ExpandVars(source, variable)
	p := a.plan(c, name, source)
	p.Name = name
	return withWarnings(p, useless(unknown(a.KW))), nil
}

func (a renameArgs) plan(c *states.Call, name, source string) states.Plan {
	switch {
	case name == "":
		return states.Wrong("Must provide name to file.rename")
	case !strings.HasPrefix(name, "/"):
		return states.Wrong("Specified file " + name + " is not an absolute path")
	case !there(source):
		return states.Correct(`Source file "` + source + `" has already been moved out of place`)
	case there(name) && !a.Force:
		return states.Correct(`The target file "` + name + `" exists and will not be overwritten`)
	}
	return states.Would(fmt.Sprintf(`File "%s" is set to be moved to "%s"`, source, name), nil,
		func() (states.Done, error) { return a.apply(c, name, source) })
}

func (a renameArgs) apply(c *states.Call, name, source string) (states.Done, error) {
	if dir := pypath.Dir(name); !isDir(dir) {
		if !a.MakeDirs {
			return states.Failed("The target directory "+dir+" is not present", nil)
		}
		if err := file.MakeDirs(c.Call, name, nil, nil, nil); err != nil {
			return states.Done{}, err
		}
	}
	if isDir(name) || there(name) && isDir(source) { // a file is replaced at once
		if err := safefile.Remove(name); err != nil {
			return states.Failed(fmt.Sprintf(`Failed to delete "%s" in preparation for forced move`, name), nil)
		}
	}
	if err := file.Move(c.Call, source, name); err != nil {
		return states.Failed(fmt.Sprintf(`Failed to move "%s" to "%s"%s`, source, name, planted(err)), nil)
	}
	return states.Changed(fmt.Sprintf(`Moved "%s" to "%s"`, source, name), payload.M(name, source))
}
