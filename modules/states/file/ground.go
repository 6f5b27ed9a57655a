package file

import (
	"os"

	"brine/modules/execution/file"
	"brine/modules/host/program"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// expanded is a name with the home directory in the place of ~.
func expanded(_ *states.Call, v any) (string, error) {
	text, ok := v.(string)
	if !ok {
		return "", &loader.ArgumentError{Message: "expected str, bytes or os.PathLike object, not " + python.Type(v)}
	}
	return pypath.ExpandUser(text, program.Home), nil
}

// ownerOf is the argument user, or owner, which many mean.
func ownerOf(user any, kw *payload.Map) any {
	if !python.Truth(user) {
		if owner, ok := kw.Get("owner"); ok {
			return owner
		}
	}
	return user
}

// unknownOwner tells of a user or a group that is not there. In test mode another state may yet make them.
func unknownOwner(c *states.Call, user, group any) (wrong string, err error) {
	if python.Truth(user) {
		known, err := file.KnownUser(c.Call, user)
		if err != nil {
			return "", err
		}
		if !known {
			wrong += "User " + python.Str(user) + " is not available "
		}
	}
	if python.Truth(group) {
		known, err := file.KnownGroup(c.Call, group)
		if err != nil {
			return "", err
		}
		if !known {
			wrong += "Group " + python.Str(group) + " is not available"
		}
	}
	if c.Test {
		return "", nil
	}
	return wrong, nil
}

// exists follows links.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// there follows none.
func there(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}
