package mount

import (
	"strings"

	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type unmounting struct {
	Name    any          `arg:"name"`
	Device  any          `arg:"device=None"`
	Config  any          `arg:"config=/etc/fstab"`
	Persist any          `arg:"persist=False"`
	User    any          `arg:"user=None"`
	KW      *payload.Map `arg:"**kwargs"`
}

func unmounted(c *states.Call, a unmounting) (states.Plan, error) {
	if !python.Truth(a.Name) {
		return states.Wrong("Must provide name to mount.unmounted"), nil
	}
	name := python.Str(a.Name)
	now, err := active(c)
	if err != nil {
		return states.Plan{}, err
	}
	isMounted := now.Has(strings.ReplaceAll(name, " ", `\040`))
	entry, text, err := a.entry(c, name)
	if err != nil {
		return states.Plan{}, err
	}
	apply := func() (states.Done, error) { return a.apply(c, name, isMounted, entry, text) }
	switch {
	case isMounted:
		return states.Would("Mount point "+name+" is mounted but should not be", nil, apply), nil
	case entry:
		return states.Would("Mount point "+name+" is unmounted but needs to be purged from "+python.Str(a.Config)+
			" to be made persistent", nil, apply), nil
	}
	return states.Correct("Target was already unmounted" + text), nil
}

// entry tells whether the table has an entry that is to go; text is why it has not.
func (a unmounting) entry(c *states.Call, name string) (has bool, text string, err error) {
	if !python.Truth(a.Persist) {
		return false, "", nil
	}
	all, err := table(c, a.Config)
	found, ok := all.Value(name).(*payload.Map)
	switch {
	case err != nil:
		return false, "", err
	case !ok:
		return false, ". fstab entry not found", nil
	case python.Truth(a.Device) && found.Value("device") != a.Device:
		return false, ". fstab entry for device " + python.Str(a.Device) + " not found", nil
	}
	return true, "", nil
}

func (a unmounting) apply(c *states.Call, name string, isMounted, entry bool, text string) (states.Done, error) {
	done := states.Done{Result: true, Comment: "Target was already unmounted", Changes: payload.NewMap(0)}
	if isMounted {
		args := []any{name}
		if python.Truth(a.Device) {
			args = append(args, a.Device)
		}
		v, err := call(c, "umount", payload.M("user", a.User), args...)
		if err != nil {
			return done, err
		}
		if v == true {
			done.Comment = "Target was successfully unmounted"
			done.Changes.Set("umount", true)
		} else {
			done.Result, done.Comment = false, python.Str(v)
		}
		if _, err := call(c, "delete_mount_cache", nil, name); err != nil {
			return done, err
		}
	}
	done.Comment = done.Comment.(string) + text
	if !entry {
		return done, nil
	}
	v, err := call(c, "rm_fstab", nil, name, a.Device, a.Config)
	if err != nil {
		return done, err
	}
	if v != true {
		done.Result, done.Comment = false, done.Comment.(string)+". Failed to persist purge"
		return done, nil
	}
	done.Comment = done.Comment.(string) + ". Removed target from fstab"
	done.Changes.Set("persist", "purged")
	return done, nil
}
