package file

import (
	"os"
	"os/user"
	"strconv"

	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/wire/python"
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
		if u, err := user.Lookup(x); err == nil {
			return strconv.ParseInt(u.Uid, 10, 64)
		}
		u, known, err := accounts.UserNamed(c.Ctx, "", x) // it may be of a source that only the C library knows
		if err != nil || !known {
			return "", nil
		}
		return u.UID, nil
	}
	return nil, &loader.ArgumentError{Message: "getpwnam() argument must be str, not " + python.Type(v)}
}

// groupID is the number of a group, "" of one that is not there.
func groupID(c *loader.Call, v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return "", nil
	case bool, int64:
		return x, nil
	case string:
		if g, err := user.LookupGroup(x); err == nil {
			return strconv.ParseInt(g.Gid, 10, 64)
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
