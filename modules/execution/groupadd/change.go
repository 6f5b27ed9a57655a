package groupadd

import (
	"slices"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// rooted is an option of a program for another root directory. It goes before the name of a group.
func (a under) rooted(argv []string, option string) []string {
	if a.Root == nil {
		return argv
	}
	return append(argv, option, loader.Text(a.Root))
}

// about is a command line whose last word is the name of a group; unlike in Salt it is never an option.
func about(c *loader.Call, program, group string, options ...string) ([]string, error) {
	if err := cmdmod.Operand(group); err != nil {
		return nil, err
	}
	path, err := cmdmod.Found(c, program)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]string{path}, options, []string{group}), nil
}

// succeeds runs what about made.
func succeeds(c *loader.Call, argv []string, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	return cmdmod.Succeeds(c, argv...)
}

// local is the name of a program, or of that of libuser, which changes the local files alone.
func local(program string, wanted bool) string {
	if wanted {
		return "l" + program
	}
	return program
}

type added struct {
	Name   string `arg:"name"`
	GID    any    `arg:"gid=None"`
	System bool   `arg:"system=False"`
	under
	NonUnique bool `arg:"non_unique=False"`
	Local     bool `arg:"local=False"`
}

func add(c *loader.Call, a added) (bool, error) {
	var options []string
	if python.Truth(a.GID) {
		options = append(options, "-g", loader.Text(a.GID))
		if a.NonUnique && !a.Local {
			options = append(options, "-o")
		}
	}
	if a.System {
		options = append(options, "-r")
	}
	if !a.Local {
		options = a.rooted(options, "-R")
	}
	argv, err := about(c, local("groupadd", a.Local), a.Name, options...)
	return succeeds(c, argv, err)
}

type removed struct {
	Name string `arg:"name"`
	under
	Local bool `arg:"local=False"`
}

func remove(c *loader.Call, a removed) (bool, error) {
	var options []string
	if !a.Local {
		options = a.rooted(options, "-R")
	}
	argv, err := about(c, local("groupdel", a.Local), a.Name, options...)
	return succeeds(c, argv, err)
}

type newGID struct {
	Name string `arg:"name"`
	GID  any    `arg:"gid"`
	under
	NonUnique bool `arg:"non_unique=False"`
}

func changeGID(c *loader.Call, a newGID) (bool, error) {
	g, known, err := accounts.GroupNamed(c.Ctx, a.dir(), a.Name)
	if err != nil || !known {
		return false, err
	}
	if payload.Equal(g.GID, a.GID) {
		return true, nil
	}
	options := a.rooted(nil, "-R")
	if a.NonUnique {
		options = append(options, "-o")
	}
	argv, err := about(c, "groupmod", a.Name, append(options, "-g", loader.Text(a.GID))...)
	if err != nil {
		return false, err
	}
	if _, err := cmdmod.Run(c, argv, nil); err != nil {
		return false, err
	}
	g, known, err = accounts.GroupNamed(c.Ctx, a.dir(), a.Name)
	return known && payload.Equal(g.GID, a.GID), err
}

type member struct {
	Name string `arg:"name"`
	User string `arg:"username"`
	under
}

func addUser(c *loader.Call, a member) (bool, error) {
	argv, err := about(c, "gpasswd", a.Name, a.rooted([]string{"--add", a.User}, "--root")...)
	return succeeds(c, argv, err)
}

// removeUser is done with a user who is not in the group, and with a group that is not there.
func removeUser(c *loader.Call, a member) (bool, error) {
	g, _, err := accounts.GroupNamed(c.Ctx, "", a.Name)
	if err != nil || !slices.Contains(g.Members, a.User) {
		return err == nil, err
	}
	argv, err := about(c, "gpasswd", a.Name, a.rooted([]string{"--del", a.User}, "--root")...)
	return succeeds(c, argv, err)
}

type memberList struct {
	Name    string `arg:"name"`
	Members string `arg:"members_list"`
	under
}

func setMembers(c *loader.Call, a memberList) (bool, error) {
	argv, err := about(c, "gpasswd", a.Name, a.rooted([]string{"--members", a.Members}, "--root")...)
	return succeeds(c, argv, err)
}
