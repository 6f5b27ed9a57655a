// Package groupadd is the execution module group of Linux: it looks at groups, in all sources that the host has, and
// adds, changes and removes them by groupadd, groupmod, groupdel and gpasswd. It answers to salt/modules/groupadd.py.
package groupadd

import (
	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module group of Linux.
func Module() loader.Module {
	return loader.Module{File: "groupadd", Name: "group", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("info", info, "Show a group; nothing for one that is not there.", "group.info foo"),
			loader.Fn("getent", getent, "List all groups.", "group.getent"),
			loader.Fn("add", add, "Add a group.", "group.add foo 3456"),
			loader.Fn("delete", remove, "Remove a group.", "group.delete foo"),
			loader.Fn("chgid", changeGID, "Change the number of a group.", "group.chgid foo 4376"),
			loader.Fn("adduser", addUser, "Add a user to a group.", "group.adduser foo bar"),
			loader.Fn("deluser", removeUser, "Take a user out of a group.", "group.deluser foo bar"),
			loader.Fn("members", setMembers, "Say which users, and no others, are in a group.",
				"group.members foo 'user1,user2,user3,...'"),
		}
	}}
}

// under is the directory in which the files of groups lie.
type under struct {
	Root any `arg:"root=None"`
}

// dir is the directory: "" where none is given.
func (a under) dir() string {
	root, _ := a.Root.(string)
	if root == "" && a.Root != nil {
		return "/"
	}
	return root
}

func described(g accounts.Group) *payload.Map {
	return payload.M("name", g.Name, "passwd", g.Passwd, "gid", g.GID, "members", g.Members)
}

// named is a group.
type named struct {
	Name any `arg:"name"`
	under
}

func info(c *loader.Call, a named) (*payload.Map, error) {
	name, ok := a.Name.(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "getgrnam() argument 'name' must be str, not " +
			python.Type(a.Name)}
	}
	g, ok, err := accounts.GroupNamed(c.Ctx, a.dir(), name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return payload.NewMap(0), nil
	}
	return described(g), nil
}

// all are all groups, looked up anew or not.
type all struct {
	Refresh any `arg:"refresh=False"`
	under
}

func getent(c *loader.Call, a all) ([]any, error) {
	groups, err := accounts.Groups(c.Ctx, a.dir())
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, g := range groups {
		out = append(out, described(g))
	}
	return out, nil
}
