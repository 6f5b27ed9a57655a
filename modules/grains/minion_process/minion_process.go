// Package minion_process holds the grains of the process and its user. Answers to salt/grains/minion_process.py.
package minion_process

import (
	"os"
	"os/user"
	"strconv"

	"brine/modules/grains"
	"brine/wire/payload"
)

// Module is the grains of minion_process.
func Module() grains.Module {
	return grains.Module{File: "minion_process", Groups: func(*grains.Host) []grains.Group {
		return []grains.Group{
			{Name: "process", Keys: []string{"username", "groupname", "pid", "gid", "uid"}, Run: process},
		}
	}}
}

func process() *payload.Map {
	uid, gid := os.Geteuid(), os.Getegid()
	name, group := strconv.Itoa(uid), ""
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
		if g, err := user.LookupGroupId(u.Gid); err == nil {
			group = g.Name
		}
	}
	return payload.M("username", name, "groupname", group, "pid", int64(os.Getpid()), "gid", int64(gid), "uid",
		int64(uid))
}
