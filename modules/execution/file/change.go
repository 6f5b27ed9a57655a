package file

import (
	"os"
	"strconv"
	"strings"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"

	"golang.org/x/sys/unix"
)

// writers are the functions that change owners and modes, and remove.
func writers() []loader.Func {
	return []loader.Func{
		loader.Fn("chown", runChown, "Give a path to a user and a group.", "file.chown /etc/passwd root root"),
		loader.Fn("lchown", lchown, "Give a path, or a link itself, to a user and a group.",
			"file.chown /etc/passwd root root"),
		loader.Fn("chgrp", chgrp, "Give a path to a group.", "file.chgrp /etc/passwd root"),
		loader.Fn("set_mode", setMode, "Set the mode of a path.", "file.set_mode /etc/passwd 0644"),
		loader.Fn("remove", runRemove, "Remove a file, a link, or a directory with all that is in it.",
			"file.remove /tmp/foo"),
	}
}

type (
	owned struct {
		location
		User  any `arg:"user"`
		Group any `arg:"group"`
	}
	grouped struct {
		location
		Group any `arg:"group"`
	}
)

func runChown(c *loader.Call, a owned) (any, error) { return chown(c, a.Path, a.User, a.Group) }

func lchown(c *loader.Call, a owned) (any, error) {
	o, err := ownersOf(c, a.Path, a.User, a.Group)
	if err != nil {
		return nil, err
	}
	return nil, o.give(os.Lchown)
}

func chgrp(c *loader.Call, a grouped) (any, error) {
	m, err := stats(c, a.Path, nil, true)
	if err != nil {
		return nil, err
	}
	return chown(c, a.Path, m.Value("user"), a.Group)
}

// removed is a path to remove.
type removed struct {
	location
	KW *payload.Map `arg:"**kwargs"`
}

func runRemove(c *loader.Call, a removed) (any, error) {
	name, err := path(c, a.Path)
	if err == nil && !strings.HasPrefix(name, "/") {
		err = loader.InvocErr("File path must be absolute: %s", name)
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(name); err != nil {
		return false, nil
	}
	if err := remove(name); err != nil {
		return nil, loader.ExecErr("Could not remove '%s': %s", name, loader.Message(err))
	}
	return true, nil
}

// ownership is a path with the numbers of a user and a group for it: -1 for one that stays, and "" for one that is not
// there.
type ownership struct {
	name     string
	uid, gid any
}

func ownersOf(c *loader.Call, v, user, group any) (o ownership, err error) {
	if o.name, err = path(c, v); err != nil {
		return o, err
	}
	if o.uid, err = userID(c, user); err != nil {
		return o, err
	}
	if o.gid, err = groupID(c, group); err != nil {
		return o, err
	}
	for _, id := range []struct{ found, given *any }{{&o.uid, &user}, {&o.gid, &group}} {
		if *id.found == "" && !python.Truth(*id.given) {
			*id.found = int64(-1)
		}
	}
	return o, nil
}

// wrong tells which of the two is not there.
func (o ownership) wrong() (text string) {
	if o.uid == "" {
		text += "User does not exist\n"
	}
	if o.gid == "" {
		text += "Group does not exist\n"
	}
	return text
}

// give calls the system, which takes only numbers. That is how the reference comes to tell a name that is not there as
// a TypeError.
func (o ownership) give(how func(name string, uid, gid int) error) error {
	for _, id := range []struct {
		what string
		v    any
	}{{"uid", o.uid}, {"gid", o.gid}} {
		if _, ok := whole(id.v); !ok {
			return &loader.ArgumentError{Message: id.what + " should be integer, not " + python.Type(id.v)}
		}
	}
	uid, _ := whole(o.uid)
	gid, _ := whole(o.gid)
	return how(o.name, int(uid), int(gid))
}

func chown(c *loader.Call, v, user, group any) (any, error) {
	o, err := ownersOf(c, v, user, group)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(o.name); err != nil { // it may be a link that leads nowhere
		err := o.give(os.Lchown)
		if _, system := program.Errno(err); system {
			return o.wrong() + "File not found", nil
		}
		return nil, err
	}
	if text := o.wrong(); text != "" {
		return text, nil
	}
	return nil, o.give(os.Chown)
}

func setMode(c *loader.Call, a withMode) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	digits := strings.TrimLeft(python.Str(a.Mode), "0Oo")
	if digits == "" {
		digits = "0"
	}
	if _, err := os.Stat(name); err != nil {
		return nil, loader.ExecErr("%s: File not found", name)
	}
	bits, err := strconv.ParseUint(strings.TrimSpace(digits), 8, 31)
	if err != nil || unix.Chmod(name, uint32(bits)&0o7777) != nil {
		return "Invalid Mode " + digits, nil
	}
	m, err := stats(c, name, nil, true)
	return m.Value("mode"), err
}
