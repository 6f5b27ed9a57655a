// Package useradd is the execution module user of Linux: it looks at users, in all sources that the host has, and adds,
// changes and removes them by useradd, usermod and userdel. Passwords are another module's (linux_shadow). It answers
// to salt/modules/useradd.py.
package useradd

import (
	"slices"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module user of Linux.
func Module() loader.Module {
	return loader.Module{File: "useradd", Name: "user", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(lookups(), changes(), comments())
	}}
}

func lookups() []loader.Func {
	return []loader.Func{
		loader.Fn("info", info, "Show a user; nothing for one that is not there.", "user.info root"),
		loader.Fn("getent", getent, "List all users with what is known of them.", "user.getent"),
		loader.Fn("list_users", listUsers, "List the names of all users.", "user.list_users"),
		loader.Fn("list_groups", listGroups, "List the groups that a user is in.", "user.list_groups foo"),
		loader.Fn("primary_group", primaryGroup, "Show the first group of a user.", "user.primary_group saltadmin"),
		loader.Fn("get_loginclass", noLoginClass, "Tell that a user of Linux has no login class.",
			"user.get_loginclass foo"),
	}
}

// under is the directory in which the files of users lie.
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

type (
	named struct {
		Name any `arg:"name"`
	}
	namedUnder struct {
		named
		under
	}
)

func info(c *loader.Call, a namedUnder) (*payload.Map, error) {
	u, ok, err := accounts.UserNamed(c.Ctx, a.dir(), python.Str(a.Name))
	if err != nil {
		return nil, err
	}
	if !ok {
		return payload.NewMap(0), nil
	}
	return described(c, u)
}

// described is a user with the parts of his comment.
func described(c *loader.Call, u accounts.User) (*payload.Map, error) {
	groups, err := accounts.GroupsOf(c.Ctx, u.Name)
	if err != nil {
		return nil, err
	}
	m := payload.M("gid", u.GID, "groups", groups, "home", u.Home, "name", u.Name, "passwd", u.Passwd,
		"shell", u.Shell, "uid", u.UID)
	for i, key := range []string{"fullname", "roomnumber", "workphone", "homephone", "other"} {
		m.Set(key, split(u.Gecos)[i])
	}
	return m, nil
}

// all are all users, looked up anew or not.
type all struct {
	Refresh any `arg:"refresh=False"`
	under
}

func getent(c *loader.Call, a all) ([]any, error) {
	users, err := accounts.Users(c.Ctx, a.dir())
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, u := range users {
		m, err := described(c, u)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func listUsers(c *loader.Call, a under) ([]any, error) {
	users, err := accounts.Users(c.Ctx, a.dir())
	if err != nil {
		return nil, err
	}
	var names []string
	for _, u := range users {
		names = append(names, u.Name)
	}
	slices.Sort(names)
	return list(names), nil
}

func listGroups(c *loader.Call, a named) ([]any, error) {
	names, err := accounts.GroupsOf(c.Ctx, python.Str(a.Name))
	return list(names), err
}

// list makes values of texts.
func list(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}

func primaryGroup(c *loader.Call, a named) (any, error) {
	if err := cmdmod.Operand(python.Str(a.Name)); err != nil {
		return nil, err
	}
	return c.Call("cmd.run", []any{[]any{"id", "-g", "-n", a.Name}}, nil)
}
