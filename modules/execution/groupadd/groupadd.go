// Package groupadd holds the functions of the module group that look at groups; those that change any come with the states. It
// answers to salt/modules/groupadd.py.
package groupadd

import (
	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// Functions lists the functions of the module.
func Functions() []loader.Func {
	root := loader.Opt("root", nil)
	all := []loader.Func{
		{Name: "group.info", Params: []loader.Param{loader.Req("name"), root}, Run: info, Doc: `Show a group; nothing for one that is not there.

CLI Example:

    salt '*' group.info foo`},
		{Name: "group.getent", Params: []loader.Param{loader.Opt("refresh", false), root}, Run: getent, Doc: `List all groups.

CLI Example:

    salt '*' group.getent`},
	}
	for i := range all {
		all[i].Source = "salt/modules/groupadd.py"
	}
	return all
}

func rootOf(a loader.Args) string {
	root, _ := a.Get("root").(string)
	if root == "" && a.Get("root") != nil {
		return "/"
	}
	return root
}

func described(g accounts.Group) *payload.Map {
	return payload.M("name", g.Name, "passwd", g.Passwd, "gid", g.GID, "members", g.Members)
}

func info(c *loader.Call, a loader.Args) (any, error) {
	name, ok := a.Get("name").(string)
	if !ok {
		return nil, &loader.ArgumentError{Message: "getgrnam() argument 'name' must be str, not " + pytext.Type(a.Get("name"))}
	}
	g, ok, err := accounts.GroupNamed(c.Ctx, rootOf(a), name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return payload.NewMap(0), nil
	}
	return described(g), nil
}

func getent(c *loader.Call, a loader.Args) (any, error) {
	groups, err := accounts.Groups(c.Ctx, rootOf(a))
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, g := range groups {
		out = append(out, described(g))
	}
	return out, nil
}
