// Package mount is the state module mount: what is mounted, which swap areas are in use, and what the table of file
// systems says of them. The programs are called by the execution module of the same name. Answers to
// salt/states/mount.py, for Linux.
package mount

import (
	"os"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module mount.
func Module() loader.Module {
	return loader.Module{File: "mount", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("mounted", mounted, "Have a device mounted, and in the table of file systems.", "/mnt/sdb:",
				"  mount.mounted:", "    - device: /dev/sdb1", "    - fstype: ext4", "    - mkmnt: True"),
			states.Fn("unmounted", unmounted, "Have nothing mounted at a place."),
			states.Fn("swap", swap, "Have a swap area in use, and in the table of file systems.", "/root/swapfile:",
				"  mount.swap: []"),
			states.Fn("fstab_present", fstabPresent, "Have an entry in the table of file systems."),
			states.Fn("fstab_absent", fstabAbsent, "Have an entry not in the table of file systems."),
			states.Fn("mod_watch", watch, "Mount again what a state has mounted."),
		}
	}}
}

// call calls a function of the execution module.
func call(c *states.Call, fun string, kw *payload.Map, args ...any) (any, error) {
	return c.Salt("mount."+fun, kw, args...)
}

// active is what is mounted, by its place.
func active(c *states.Call) (*payload.Map, error) {
	v, err := call(c, "active", payload.M("extended", true))
	all, _ := v.(*payload.Map)
	return all, err
}

// table is the table of file systems.
func table(c *states.Call, config any) (*payload.Map, error) {
	v, err := call(c, "fstab", nil, config)
	all, _ := v.(*payload.Map)
	return all, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

type watching struct {
	Name any          `arg:"name"`
	User any          `arg:"user=None"`
	KW   *payload.Map `arg:"**kwargs"`
}

// watch mounts again. Unlike Salt: not in test mode, and what the program wrote as its error is no success.
func watch(c *states.Call, a watching) (states.Plan, error) {
	sfun, ok := a.KW.Get("sfun")
	if !ok {
		return states.Plan{}, loader.Raise("KeyError", "'sfun'")
	}
	if sfun != "mounted" {
		return states.Correct("Watch not supported in " + python.Str(sfun) + " at this time"), nil
	}
	opts, ok := a.KW.Get("opts")
	if !ok {
		opts = "defaults"
	}
	name := python.Str(a.Name)
	return states.Would(name+" would be remounted", nil, func() (states.Done, error) {
		v, err := call(c, "remount", payload.M("user", a.User), name, a.KW.Value("device"), false, a.KW.Value("fstype"),
			opts)
		if err == nil && v != true {
			return states.Failed(name+" failed to remount: "+python.Str(v), nil)
		}
		return states.Done{Result: true, Comment: name + " remounted"}, err
	}), nil
}
