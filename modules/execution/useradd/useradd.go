// Package useradd holds the functions of the module user that look at users; those that change any come with the states. It
// answers to salt/modules/useradd.py.
package useradd

import (
	"slices"
	"strings"

	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// Functions lists the functions of the module.
func Functions() []loader.Func {
	name, root := loader.Req("name"), loader.Opt("root", nil)
	all := []loader.Func{
		{Name: "user.info", Params: []loader.Param{name, root}, Run: info, Doc: `Show a user; nothing for one that is not there.

CLI Example:

    salt '*' user.info root`},
		{Name: "user.getent", Params: []loader.Param{loader.Opt("refresh", false), root}, Run: getent, Doc: `List all users with what is known of them.

CLI Example:

    salt '*' user.getent`},
		{Name: "user.list_users", Params: []loader.Param{root}, Run: listUsers, Doc: `List the names of all users.

CLI Example:

    salt '*' user.list_users`},
		{Name: "user.list_groups", Params: []loader.Param{name}, Run: listGroups, Doc: `List the groups that a user is in.

CLI Example:

    salt '*' user.list_groups foo`},
		{Name: "user.primary_group", Params: []loader.Param{name}, Run: primaryGroup, Doc: `Show the first group of a user.

CLI Example:

    salt '*' user.primary_group saltadmin`},
	}
	for i := range all {
		all[i].Source = "salt/modules/useradd.py"
	}
	return all
}

// rootOf is the argument root: "" where none is given.
func rootOf(a loader.Args) string {
	root, _ := a.Get("root").(string)
	if root == "" && a.Get("root") != nil {
		return "/"
	}
	return root
}

func info(c *loader.Call, a loader.Args) (any, error) {
	u, ok, err := accounts.UserNamed(c.Ctx, rootOf(a), pytext.Str(a.Get("name")))
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
	m := payload.M("gid", u.GID, "groups", groups, "home", u.Home, "name", u.Name, "passwd", u.Passwd, "shell", u.Shell, "uid", u.UID)
	parts := append(strings.SplitN(u.Gecos, ",", 5), "", "", "", "")
	for i, key := range []string{"fullname", "roomnumber", "workphone", "homephone", "other"} {
		m.Set(key, parts[i])
	}
	return m, nil
}

func getent(c *loader.Call, a loader.Args) (any, error) {
	users, err := accounts.Users(c.Ctx, rootOf(a))
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

func listUsers(c *loader.Call, a loader.Args) (any, error) {
	users, err := accounts.Users(c.Ctx, rootOf(a))
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

func listGroups(c *loader.Call, a loader.Args) (any, error) {
	names, err := accounts.GroupsOf(c.Ctx, pytext.Str(a.Get("name")))
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

func primaryGroup(c *loader.Call, a loader.Args) (any, error) {
	return c.Call("cmd.run", []any{[]any{"id", "-g", "-n", a.Get("name")}}, nil)
}
