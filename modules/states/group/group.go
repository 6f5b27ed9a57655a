// Package group is the state module group: groups are there with a number and members, or are not there. It stands on
// the execution module group of the host. Answers to salt/states/group.py.
package group

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module group.
func Module() loader.Module {
	return loader.Module{File: "group", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("present", present, "Let a group be there, with its number and its members.", "cheese:",
				"  group.present:", "    - gid: 7648", "    - system: True", "    - addusers: [user1, users2]"),
			states.Fn("absent", absent, "Let a group not be there.", "cheese: {group.absent: []}"),
		}
	}}
}

type wanted struct {
	Name      string `arg:"name"`
	GID       any    `arg:"gid=None"`
	System    bool   `arg:"system=False"`
	AddUsers  any    `arg:"addusers=None"`
	DelUsers  any    `arg:"delusers=None"`
	Members   any    `arg:"members=None"`
	NonUnique bool   `arg:"non_unique=False"`
	Local     bool   `arg:"local=False"`
}

// look is a group; an empty map where there is none.
func look(c *states.Call, name string, local bool) (*payload.Map, error) {
	var kw *payload.Map
	if local {
		kw = payload.M("root", "/")
	}
	v, err := c.Salt("group.info", kw, name)
	m, _ := v.(*payload.Map)
	return m, err
}

func present(c *states.Call, a wanted) (states.Plan, error) {
	add, del := names(a.AddUsers), names(a.DelUsers)
	if a.Members != nil && (a.AddUsers != nil || a.DelUsers != nil) {
		return states.Plan{Comment: `Error: Conflicting options "members" with "addusers" and/or "delusers" can not be ` +
			"used together. "}, nil
	}
	if slices.ContainsFunc(add, func(user string) bool { return slices.Contains(del, user) }) {
		return states.Plan{Comment: "Error. Same user(s) can not be added and deleted simultaneously"}, nil
	}
	changes, err := a.difference(c)
	switch {
	case err != nil:
		return states.Plan{}, err
	case changes == nil:
		return states.Would("Group "+a.Name+" set to be added", nil, func() (states.Done, error) { return a.add(c) }), nil
	case changes.Len() == 0:
		return states.Correct("Group " + a.Name + " is present and up to date"), nil
	}
	text := "The following group attributes are set to be changed:\n"
	for key, v := range changes.All() {
		shown := python.Str(v)
		if key == "delusers" && a.DelUsers == nil { // a set in Salt
			shown = "{" + strings.Trim(shown, "[]") + "}"
		}
		text += python.Str(key) + ": " + shown + "\n"
	}
	return states.Would(text, nil, func() (states.Done, error) { return a.change(c, changes, text) }), nil
}

// names are the names of a list, or one name. Unlike Salt, where a text is a list of its letters.
func names(v any) []string {
	if text, ok := v.(string); ok && text != "" {
		return strings.Split(text, ",")
	}
	list, _ := v.([]any)
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = python.Str(item)
	}
	return out
}

// difference is what has to change for a group to be as wanted; nil: there is no such group. A number that is none is
// told in the place of changes, as in Salt.
func (a *wanted) difference(c *states.Call) (*payload.Map, error) {
	group, err := look(c, a.Name, a.Local)
	if err != nil || group.Len() == 0 {
		return nil, err
	}
	out := payload.NewMap(0)
	if python.Truth(a.GID) {
		gid, err := loader.ToInt(a.GID)
		if err != nil {
			return payload.M("result", false, "comment", "Invalid gid"), nil
		}
		if !payload.Equal(group.Value("gid"), gid) {
			out.Set("gid", gid)
		}
	}
	now := payload.Texts(group.Value("members"))
	if members := names(a.Members); a.Members != nil && !same(now, members) {
		if len(members) == 0 {
			out.Set("delusers", payload.AnyList(slices.Sorted(slices.Values(now))))
		} else {
			out.Set("members", payload.AnyList(members))
		}
	}
	if missing := chosen(names(a.AddUsers), now, false); missing != nil {
		out.Set("addusers", missing)
	}
	if there := chosen(names(a.DelUsers), now, true); there != nil {
		out.Set("delusers", there)
	}
	return out, nil
}

func same(a, b []string) bool { return chosen(a, b, false) == nil && chosen(b, a, false) == nil }

// chosen are the names that are in a list, or those that are not.
func chosen(names, list []string, in bool) (out []any) {
	for _, name := range names {
		if slices.Contains(list, name) == in {
			out = append(out, name)
		}
	}
	return out
}

// change makes the changes, and looks whether that helped.
func (a *wanted) change(c *states.Call, changes *payload.Map, text string) (states.Done, error) {
	for key, v := range changes.All() {
		if err := a.perform(c, python.Str(key), v); err != nil {
			return states.Done{}, err
		}
	}
	left, err := a.difference(c)
	if err != nil {
		return states.Done{}, err
	}
	if left.Len() > 0 {
		return states.Failed(text+"Some changes could not be applied", payload.M("Failed", left))
	}
	return states.Changed(text, payload.M("Final", "All changes applied successfully"))
}

func (a *wanted) perform(c *states.Call, key string, v any) (err error) {
	switch key {
	case "gid":
		_, err = c.Salt("group.chgid", payload.M("non_unique", a.NonUnique), a.Name, v)
	case "members":
		_, err = c.Salt("group.members", nil, a.Name, strings.Join(payload.Texts(v), ","))
	case "addusers", "delusers":
		fun := map[string]string{"addusers": "group.adduser", "delusers": "group.deluser"}[key]
		for _, user := range payload.Texts(v) {
			if _, err := c.Salt(fun, nil, a.Name, user); err != nil {
				return err
			}
		}
	}
	return err
}

// add makes the group and gives it members, unless its number is another's.
func (a *wanted) add(c *states.Call) (states.Done, error) {
	if a.GID != nil && !a.NonUnique {
		owner, err := a.owner(c)
		if err != nil {
			return states.Done{}, err
		}
		if owner != "" {
			return states.Failed("Group "+a.Name+" is not present but gid "+python.Str(a.GID)+
				" is already taken by group "+owner, nil)
		}
	}
	made, err := c.Salt("group.add", payload.M("gid", a.GID, "system", a.System, "non_unique", a.NonUnique,
		"local", a.Local), a.Name)
	if err != nil {
		return states.Done{}, err
	}
	if !python.Truth(made) {
		return states.Failed("Failed to create new group "+a.Name, nil)
	}
	members := names(a.Members)
	if add := names(a.AddUsers); len(add) > 0 {
		members = add
	}
	if len(members) > 0 {
		if _, err := c.Salt("group.members", nil, a.Name, strings.Join(members, ",")); err != nil {
			return states.Done{}, err
		}
	}
	group, err := look(c, a.Name, a.Local)
	if err != nil {
		return states.Done{}, err
	}
	left, err := a.difference(c)
	if err != nil {
		return states.Done{}, err
	}
	if left.Len() > 0 {
		return states.Failed("Group "+a.Name+" has been created but, some changes could not be applied",
			payload.M("Failed", left))
	}
	return states.Changed("New group "+a.Name+" created", group)
}

// owner is the group that has the number already.
func (a *wanted) owner(c *states.Call) (string, error) {
	v, err := c.Salt("group.getent", nil)
	if err != nil {
		return "", err
	}
	list, _ := v.([]any)
	for _, item := range list {
		group, _ := item.(*payload.Map)
		if payload.Equal(group.Value("gid"), a.GID) {
			return group.Str("name"), nil
		}
	}
	return "", nil
}

type gone struct {
	Name  string `arg:"name"`
	Local bool   `arg:"local=False"`
}

func absent(c *states.Call, a gone) (states.Plan, error) {
	group, err := look(c, a.Name, a.Local)
	if err != nil {
		return states.Plan{}, err
	}
	if group.Len() == 0 {
		return states.Correct("Group not present"), nil
	}
	return states.Would("Group "+a.Name+" is set for removal", nil, func() (states.Done, error) {
		done, err := c.Salt("group.delete", payload.M("local", a.Local), a.Name)
		if err != nil || python.Truth(done) {
			return states.Done{Result: true, Comment: "Removed group " + a.Name, Changes: payload.M(a.Name, "")}, err
		}
		return states.Failed("Failed to remove group "+a.Name, nil)
	}), nil
}
