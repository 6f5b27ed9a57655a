package file

import (
	"fmt"
	"slices"

	"brine/modules/execution/file"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type mknodArgs struct {
	Name  any `arg:"name"`
	Kind  any `arg:"ntype"`
	Major any `arg:"major=0"`
	Minor any `arg:"minor=0"`
	User  any `arg:"user=None"`
	Group any `arg:"group=None"`
	Mode  any `arg:"mode='0600'"`
}

// nodeKind is how Salt calls a kind of device, and the function that tells whether a path is one.
var nodeKinds = map[any]struct{ title, what, is string }{
	"c": {"Character device", "a character device", "file.is_chrdev"},
	"b": {"Block device", "a block device", "file.is_blkdev"},
	"p": {"Fifo pipe", "a fifo pipe", "file.is_fifo"},
}

// mknod makes a device or a pipe.
func mknod(c *states.Call, a mknodArgs) (states.Plan, error) {
	name, err := expanded(c, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	p, err := a.plan(c, name)
	p.Name = name
	return p, err
}

func (a mknodArgs) plan(c *states.Call, name string) (states.Plan, error) {
	if name == "" {
		return states.Wrong("Must provide name to file.mknod"), nil
	}
	kind, ok := nodeKinds[a.Kind]
	switch {
	case !ok:
		return states.Wrong(fmt.Sprintf("Node type unavailable: '%s'. Available node types are character ('c'), block "+
			"('b'), and pipe ('p')", python.Str(a.Kind))), nil
	case isFile(name):
		return states.Wrong(fmt.Sprintf("File %s exists and is not %s. Refusing to continue", name, kind.what)), nil
	}
	is, err := c.Salt(kind.is, nil, name)
	if err != nil {
		return states.Plan{}, err
	}
	if is != true {
		return states.Would(kind.title+" "+name+" is set to be created", nil, func() (states.Done, error) {
			node := file.Node{Name: name, Major: a.Major, Minor: a.Minor, User: a.User, Group: a.Group, Mode: a.Mode}
			ret, err := file.Mknod(c.Call, name, python.Str(a.Kind), node, false)
			if err != nil {
				return states.Done{}, err
			}
			return done(ret), nil
		}), nil
	}
	if a.Kind != "p" {
		v, err := c.Salt("file.get_devmm", nil, name)
		numbers, _ := v.([]any)
		if err != nil {
			return states.Plan{}, err
		}
		if !slices.Equal(numbers, []any{a.Major, a.Minor}) {
			return states.Wrong(fmt.Sprintf("%s %s exists and has a different major/minor %s/%s. Refusing to continue",
				kind.title, name, python.Str(numbers[0]), python.Str(numbers[1]))), nil
		}
	}
	return a.permsOf(c, name, kind.title)
}

// permsOf is for one that is there.
func (a mknodArgs) permsOf(c *states.Call, name, title string) (states.Plan, error) {
	perms := file.Perms{User: a.User, Group: a.Group, Mode: file.NormalMode(a.Mode)}
	ret := file.NewRet()
	if _, err := perms.Check(c.Call, name, ret); err != nil {
		return states.Plan{}, err
	}
	if ret.Changes.Len() == 0 {
		return states.Correct(title + " " + name + " is in the correct state"), nil
	}
	return states.Would("", ret.Changes, func() (states.Done, error) {
		ret := file.NewRet()
		err := perms.Enforce(c.Call, name, ret)
		return done(ret), err
	}), nil
}

type prunedArgs struct {
	Name         any  `arg:"name"`
	Recurse      bool `arg:"recurse=False"`
	IgnoreErrors bool `arg:"ignore_errors=False"`
	OlderThan    any  `arg:"older_than=None"`
}

// pruned removes a directory that is empty, and empty ones below it.
func pruned(c *states.Call, a prunedArgs) (states.Plan, error) {
	name, err := expanded(c, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	a.Recurse = a.Recurse || a.IgnoreErrors
	p := states.Correct("Directory " + name + " is not present")
	if isDir(name) {
		p = states.Would("Directory "+name+" is set for removal", payload.M("deleted", name),
			func() (states.Done, error) { return a.apply(c, name) })
	}
	p.Name = name
	return p, nil
}

func (a prunedArgs) apply(c *states.Call, name string) (states.Done, error) {
	pruning := file.Pruning{Recurse: a.Recurse}
	if python.Truth(a.OlderThan) {
		if days, err := loader.ToInt(a.OlderThan); err == nil {
			pruning.Days = days
		}
	}
	if err := pruning.Run(c.Call, name); err != nil {
		return states.Done{}, err
	}
	gone := slices.Sorted(slices.Values(pruning.Deleted))
	switch {
	case pruning.Result && !a.Recurse:
		return states.Changed("Removed directory "+name, payload.M("deleted", name))
	case len(gone) > 0 && (pruning.Result || a.IgnoreErrors):
		return states.Changed("Recursively removed empty directories under "+name,
			payload.M("deleted", payload.AnyList(gone)))
	case pruning.Result:
		return states.Changed("", nil)
	}
	return states.Failed("Failed to remove directory "+name, payload.M("deleted", payload.AnyList(pruning.Deleted),
		"errors", pruning.Errors))
}
