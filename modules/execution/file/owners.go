package file

import (
	"os"
	"os/user"
	"strconv"

	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/wire/python"

	"golang.org/x/sys/unix"
)

// owners are the functions that tell names and numbers of users and groups.
func owners() []loader.Func {
	return []loader.Func{
		loader.Fn("uid_to_user", uidToUser, "Show the name of a user by its number.", "file.uid_to_user 0"),
		loader.Fn("user_to_uid", userToUID, "Show the number of a user by its name.", "file.user_to_uid root"),
		loader.Fn("gid_to_group", gidToGroup, "Show the name of a group by its number.", "file.gid_to_group 0"),
		loader.Fn("group_to_gid", groupToGID, "Show the number of a group by its name.", "file.group_to_gid root"),
	}
}

type (
	userNumber struct {
		UID any `arg:"uid"`
	}
	userNamed struct {
		User any `arg:"user"`
	}
	groupNumber struct {
		GID any `arg:"gid"`
	}
	groupNamed struct {
		Group any `arg:"group"`
	}
)

func uidToUser(_ *loader.Call, a userNumber) (any, error) {
	id, ok := a.UID.(int64)
	if !ok {
		return nil, &loader.ArgumentError{Message: "uid should be integer, not " + python.Type(a.UID)}
	}
	return userName(id), nil
}

func userToUID(c *loader.Call, a userNamed) (any, error) { return userID(c, a.User) }

func groupToGID(c *loader.Call, a groupNamed) (any, error) { return groupID(c, a.Group) }

// userName is the name of a user, or the number of one that has none.
func userName(id int64) any {
	if u, err := user.LookupId(strconv.FormatInt(id, 10)); err == nil {
		return u.Username
	}
	return id
}

// groupName is the name of a group, or the number of one that has none.
func groupName(id int64) any {
	if g, err := user.LookupGroupId(strconv.FormatInt(id, 10)); err == nil {
		return g.Name
	}
	return id
}

// userID is the number of a user, "" of one that is not there; nil is the user of this process.
func userID(c *loader.Call, v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return int64(os.Geteuid()), nil
	case bool, int64:
		return x, nil
	case string:
		n, found := numbered(c, "/etc/passwd", x, func() (string, error) {
			u, err := user.Lookup(x)
			if err != nil {
				return "", err
			}
			return u.Uid, nil
		})
		if found {
			return n, nil
		}
		u, known, err := accounts.UserNamed(c.Ctx, "", x) // it may be of a source that only the C library knows
		if err != nil || !known {
			return "", nil
		}
		return u.UID, nil
	}
	return nil, &loader.ArgumentError{Message: "getpwnam() argument must be str, not " + python.Type(v)}
}

// known is the number of a name, as long as the file that it stands in is the same.
type known struct {
	id   int64
	file unix.Stat_t
}

// numbered looks a name up, or remembers it: states ask for the same names again and again.
func numbered(c *loader.Call, file, name string, look func() (string, error)) (id int64, found bool) {
	var now unix.Stat_t
	if unix.Stat(file, &now) != nil {
		now = unix.Stat_t{}
	}
	key := file + "\x00" + name
	if v, ok := c.Context().Get(key); ok {
		k, _ := v.(known)
		if k.file.Ino == now.Ino && k.file.Size == now.Size && k.file.Mtim == now.Mtim && k.file.Ctim == now.Ctim {
			return k.id, true
		}
	}
	text, err := look()
	if err != nil {
		return 0, false
	}
	if id, err = strconv.ParseInt(text, 10, 64); err == nil {
		const size = 256 // about
		c.Context().Put(key, known{id, now}, size)
	}
	return id, err == nil
}

// groupID is the number of a group, "" of one that is not there.
func groupID(c *loader.Call, v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return "", nil
	case bool, int64:
		return x, nil
	case string:
		n, found := numbered(c, "/etc/group", x, func() (string, error) {
			g, err := user.LookupGroup(x)
			if err != nil {
				return "", err
			}
			return g.Gid, nil
		})
		if found {
			return n, nil
		}
		g, known, err := accounts.GroupNamed(c.Ctx, "", x)
		if err != nil || !known {
			return "", nil
		}
		return g.GID, nil
	}
	return nil, &loader.ArgumentError{Message: "getgrnam() argument must be str, not " + python.Type(v)}
}

// gidToGroup takes a name, too.
func gidToGroup(c *loader.Call, a groupNumber) (any, error) {
	v := a.GID
	id, err := loader.ToInt(v)
	if _, isText := v.(string); err != nil && isText {
		found, _ := groupID(c, v)
		known, ok := found.(int64)
		if !ok {
			return "", nil
		}
		id, err = known, nil
	}
	if err != nil {
		return nil, err
	}
	name := groupName(id)
	if name == any(id) {
		if g, known, _ := accounts.GroupNumbered(c.Ctx, id); known {
			return g.Name, nil
		}
	}
	return name, nil
}

// KnownUser tells whether there is a user of a name; a number is one.
func KnownUser(c *loader.Call, v any) (bool, error) {
	_, known, err := id(c, v, userID)
	return known, err
}

// KnownGroup tells whether there is a group of a name; a number is one.
func KnownGroup(c *loader.Call, v any) (bool, error) {
	_, known, err := id(c, v, groupID)
	return known, err
}

// OwnersOf are the names of the user and the group of a path, or their numbers; a link is not followed.
func OwnersOf(name string) (owner, group any, err error) {
	s, err := standing(name, false)
	if err != nil {
		return nil, nil, err
	}
	return userName(int64(s.UID)), groupName(int64(s.GID)), nil
}

// FirstGroup is the first group of a user, by name or number; that of root for one that is not there.
func FirstGroup(c *loader.Call, v any) (any, error) {
	gid := int64(0)
	find := user.Lookup
	name := python.Str(v)
	if _, isNumber := v.(int64); isNumber {
		find = user.LookupId
	}
	if u, err := find(name); err == nil {
		if gid, err = strconv.ParseInt(u.Gid, 10, 64); err != nil {
			return nil, err
		}
	} else if u, known, err := accounts.UserNamed(c.Ctx, "", name); err == nil && known {
		gid = u.GID
	}
	return groupName(gid), nil
}
