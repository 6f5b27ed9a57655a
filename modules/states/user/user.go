// Package user is the state module user: users are there as a tree says, with their groups, homes, passwords and ages,
// or are not there. It stands on the execution modules user, group and shadow of the host. Passwords never show in
// changes or comments. Answers to salt/states/user.py.
package user

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module user.
func Module() loader.Module {
	return loader.Module{File: "user", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("present", present, "Let a user be there as the arguments say.", "fred:", "  user.present:",
				"    - fullname: Fred Jones", "    - shell: /bin/zsh", "    - uid: 4000", "    - groups: [wheel]"),
			states.Fn("absent", absent, "Let a user not be there.", "fred: {user.absent: [{purge: true}]}"),
		}
	}}
}

// redacted stands where a password would.
const redacted = "XXX-REDACTED-XXX"

// rootArgs are the keywords for looking at the local files alone.
func rootArgs(local bool) *payload.Map {
	if !local {
		return nil
	}
	return payload.M("root", "/")
}

// look calls a function that tells of a user or a group; an empty map is one that is not there.
func look(c *states.Call, fun, name string, local bool) (*payload.Map, error) {
	v, err := c.Salt(fun, rootArgs(local), name)
	m, _ := v.(*payload.Map)
	return m, err
}

// known tells whether there is a group.
func known(c *states.Call, group any) (bool, error) {
	v, err := c.Salt("group.info", nil, group)
	return python.Truth(v), err
}

type gone struct {
	Name  string `arg:"name"`
	Purge bool   `arg:"purge=False"`
	Force bool   `arg:"force=False"`
	Local bool   `arg:"local=False"`
}

func absent(c *states.Call, a gone) (states.Plan, error) {
	user, err := look(c, "user.info", a.Name, a.Local)
	if err != nil {
		return states.Plan{}, err
	}
	if user.Len() == 0 {
		return states.Correct("User " + a.Name + " is not present"), nil
	}
	return states.Would("User "+a.Name+" set for removal", nil, func() (states.Done, error) {
		return remove(c, a)
	}), nil
}

// remove removes the user; groups that go with him are changes, too.
func remove(c *states.Call, a gone) (states.Done, error) {
	before, err := c.Salt("user.list_groups", nil, a.Name)
	if err != nil {
		return states.Done{}, err
	}
	done, err := c.Salt("user.delete", payload.M("local", a.Local), a.Name, a.Purge, a.Force)
	if err != nil {
		return states.Done{}, err
	}
	if !python.Truth(done) {
		return states.Failed("Failed to remove user "+a.Name, nil)
	}
	changes := payload.NewMap(1)
	for _, group := range payload.Texts(before) {
		stays, err := known(c, group)
		if err != nil {
			return states.Done{}, err
		}
		if !stays {
			changes.Set(group+" group", "removed")
		}
	}
	return states.Changed("Removed user "+a.Name, changes.Set(a.Name, "removed"))
}
