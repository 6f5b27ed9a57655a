package filemod

import (
	"os"
	"os/user"
	"strconv"

	"brine/modules/loader"
	"brine/modules/text/pytext"
)

// owners are the functions that tell names and numbers of users and groups.
func owners() []loader.Func {
	return []loader.Func{
		one("uid_to_user", "uid", func(_ *loader.Call, a loader.Args) (any, error) {
			id, ok := a.Get("uid").(int64)
			if !ok {
				return nil, &loader.ArgumentError{Message: "uid should be integer, not " + pytext.Type(a.Get("uid"))}
			}
			return userName(id), nil
		}, `Show the name of a user by its number.

CLI Example:

    salt '*' file.uid_to_user 0`),
		one("user_to_uid", "user", func(_ *loader.Call, a loader.Args) (any, error) { return userID(a.Get("user")) },
			`Show the number of a user by its name.

CLI Example:

    salt '*' file.user_to_uid root`),
		one("gid_to_group", "gid", gidToGroup, `Show the name of a group by its number.

CLI Example:

    salt '*' file.gid_to_group 0`),
		one("group_to_gid", "group",
			func(_ *loader.Call, a loader.Args) (any, error) { return groupID(a.Get("group")) },
			`Show the number of a group by its name.

CLI Example:

    salt '*' file.group_to_gid root`),
	}
}

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
func userID(v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return int64(os.Geteuid()), nil
	case bool, int64:
		return x, nil
	case string:
		if u, err := user.Lookup(x); err == nil {
			return strconv.ParseInt(u.Uid, 10, 64)
		}
		return "", nil
	}
	return nil, &loader.ArgumentError{Message: "getpwnam() argument must be str, not " + pytext.Type(v)}
}

// groupID is the number of a group, "" of one that is not there.
func groupID(v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return "", nil
	case bool, int64:
		return x, nil
	case string:
		if g, err := user.LookupGroup(x); err == nil {
			return strconv.ParseInt(g.Gid, 10, 64)
		}
		return "", nil
	}
	return nil, &loader.ArgumentError{Message: "getgrnam() argument must be str, not " + pytext.Type(v)}
}

// gidToGroup takes a name, too.
func gidToGroup(_ *loader.Call, a loader.Args) (any, error) {
	v := a.Get("gid")
	id, err := loader.ToInt(v)
	if _, isText := v.(string); err != nil && isText {
		found, _ := groupID(v)
		known, ok := found.(int64)
		if !ok {
			return "", nil
		}
		id, err = known, nil
	}
	if err != nil {
		return nil, err
	}
	return groupName(id), nil
}
