package mount

import (
	"os"
	"path"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type swapping struct {
	Name    any `arg:"name"`
	Persist any `arg:"persist=True"`
	Config  any `arg:"config=/etc/fstab"`
}

func swap(c *states.Call, a swapping) (states.Plan, error) {
	name := python.Str(a.Name)
	area := name
	if to, err := os.Readlink(name); err == nil {
		if area = to; !strings.HasPrefix(to, "/") {
			area = "/dev/" + path.Base(to)
		}
	}
	on, err := swaps(c)
	if err != nil {
		return states.Plan{}, err
	}
	p := states.Plan{Result: true, Comment: "Swap " + name + " already active"}
	if !on.Has(area) {
		p = states.Plan{Comment: "Swap " + name + " is set to be activated"}
	}
	p.Apply = func() (states.Done, error) { return a.apply(c, name, area, on.Has(area)) }
	if !python.Truth(a.Persist) {
		return p, nil
	}
	all, err := table(c, a.Config)
	if err != nil {
		return states.Plan{}, err
	}
	if !all.Has(name) && !hasDevice(all, name) {
		p.Result = nil
		if on.Has(name) {
			p.Comment = "Swap " + name + " is set to be added to the fstab and to be activated"
		}
	}
	return p, nil
}

func hasDevice(all *payload.Map, device string) bool {
	for _, v := range all.All() {
		if entry, _ := v.(*payload.Map); entry.Str("device") == device {
			return true
		}
	}
	return false
}

func swaps(c *states.Call) (*payload.Map, error) {
	v, err := call(c, "swaps", nil)
	all, _ := v.(*payload.Map)
	return all, err
}

func (a swapping) apply(c *states.Call, name, area string, isOn bool) (states.Done, error) {
	done := states.Done{Result: true, Comment: "Swap " + name + " already active", Changes: payload.NewMap(0)}
	if !isOn {
		if _, err := call(c, "swapon", nil, area); err != nil {
			return done, err
		}
		on, err := swaps(c)
		if err != nil {
			return done, err
		}
		if stats, ok := on.Value(area).(*payload.Map); ok {
			done.Comment, done.Changes = "Swap "+name+" activated", stats.Clone()
		} else {
			done.Result, done.Comment = false, "Swap "+name+" failed to activate"
		}
	}
	if !python.Truth(a.Persist) {
		return done, nil
	}
	all, err := table(c, a.Config)
	if none := all.Map("none"); err != nil || none.Str("device") == name && none.Str("fstype") != "swap" {
		return done, err
	}
	v, err := call(c, "set_fstab", nil, "none", name, "swap", []any{"defaults"}, int64(0), int64(0), a.Config)
	if err != nil {
		return done, err
	}
	switch loader.Text(v) {
	case "new":
		done.Changes.Set("persist", "new")
		done.Comment = done.Comment.(string) + ". Added new entry to the fstab."
	case "change":
		done.Changes.Set("persist", "update")
		done.Comment = done.Comment.(string) + ". Updated the entry in the fstab."
	}
	return done, nil
}
