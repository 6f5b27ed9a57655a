// Package beacon is the state module beacon: states of the beacons of the minion. The execution module beacons does the
// work; where it is not there the states say so. Answers to salt/states/beacon.py.
package beacon

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module beacon.
func Module() loader.Module {
	return loader.Module{File: "beacon", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("present", present, "Have a beacon.", "ps:", "  beacon.present:", "    - save: True",
				"    - enable: False", "    - services:", "        salt-master: running"),
			states.Fn("absent", absent, "Have a beacon not."),
			states.Fn("enabled", enabled, "Enable a beacon."),
			states.Fn("disabled", disabled, "Disable a beacon."),
		}
	}}
}

type saved struct {
	Name any          `arg:"name"`
	Save any          `arg:"save=False"`
	KW   *payload.Map `arg:"**kwargs"`
}

type beacon struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

// current are the beacons.
func current(c *states.Call, kw *payload.Map) (*payload.Map, error) {
	kw = kw.Clone().Set("return_yaml", false)
	v, err := c.Salt("beacons.list", kw)
	if err != nil {
		return nil, err
	}
	all, _ := v.(*payload.Map)
	return all, nil
}

// ask calls a function of the execution module, which answers with result, comment and changes.
func ask(c *states.Call, fun string, kw *payload.Map, test bool, args ...any) (*payload.Map, error) {
	kw = kw.Clone()
	if test {
		kw.Set("test", true)
	}
	v, err := c.Salt("beacons."+fun, kw, args...)
	if err != nil {
		return nil, err
	}
	ret, ok := v.(*payload.Map)
	if !ok {
		return nil, loader.Raise("TypeError", "beacons.%s returned %s", fun, python.Type(v))
	}
	return ret, nil
}

// change is the plan to call a function that changes a beacon. In test mode the function says what it would do, and the
// result is True, as in Salt.
func change(c *states.Call, fun, did string, kw *payload.Map, args ...any) (states.Plan, error) {
	p := states.Plan{Result: true, Apply: func() (states.Done, error) {
		ret, err := ask(c, fun, kw, false, args...)
		if err != nil {
			return states.Done{}, err
		}
		switch {
		case !python.Truth(ret.Value("result")):
			return states.Done{Result: ret.Value("result"), Comment: ret.Value("comment")}, nil
		case fun == "modify" && !ret.Has("changes"):
			return states.Changed(ret.Value("comment"), nil)
		case fun == "modify":
			return states.Changed(did, ret.Map("changes"))
		}
		return states.Changed(did, nil)
	}}
	if !c.Test {
		return p, nil
	}
	ret, err := ask(c, fun, kw, true, args...)
	if err != nil {
		return states.Plan{}, err
	}
	p.Comment = ret.Value("comment")
	if fun == "modify" {
		p.Changes = ret.Map("changes")
	}
	return p, nil
}

func present(c *states.Call, a saved) (states.Plan, error) {
	name := python.Str(a.Name)
	all, err := current(c, a.KW)
	if err != nil {
		return states.Plan{}, err
	}
	data := []any{}
	for key, v := range a.KW.All() {
		data = append(data, payload.M(key, v))
	}
	old, there := all.Get(a.Name)
	var p states.Plan
	switch {
	case !there:
		p, err = change(c, "add", "Adding "+name+" to beacons", a.KW, a.Name, data)
	case dicts.Contains([]any{old}, data):
		p = states.Correct("Job " + name + " in correct state")
	default:
		p, err = change(c, "modify", "Modifying "+name+" in beacons", a.KW, a.Name, data)
	}
	return saving(c, p, a), err
}

func absent(c *states.Call, a saved) (states.Plan, error) {
	name := python.Str(a.Name)
	all, err := current(c, a.KW)
	if err != nil {
		return states.Plan{}, err
	}
	p := states.Correct(name + " not configured in beacons")
	if all.Has(a.Name) {
		p, err = change(c, "delete", "Removed "+name+" from beacons", a.KW, a.Name)
	}
	return saving(c, p, a), err
}

// saving is a plan that also writes the beacons into their file.
func saving(c *states.Call, p states.Plan, a saved) states.Plan {
	if !python.Truth(a.Save) {
		return p
	}
	name, apply, was := python.Str(a.Name), p.Apply, p.Comment
	p.Comment = python.Str(was) + "\nBeacon " + name + " would be saved"
	p.Apply = func() (states.Done, error) {
		done := states.Done{Result: true, Comment: was}
		if apply != nil {
			var err error
			if done, err = apply(); err != nil || done.Result != true {
				return done, err
			}
		}
		if _, err := c.Salt("beacons.save", nil); err != nil {
			return states.Done{}, err
		}
		done.Comment = python.Str(done.Comment) + "\nBeacon " + name + " saved"
		return done, nil
	}
	return p
}

func enabled(c *states.Call, a beacon) (states.Plan, error) {
	name := python.Str(a.Name)
	return ofExisting(c, "enable_beacon", a, "Enabled "+name+" from beacons", name+" not a configured beacon")
}

func disabled(c *states.Call, a beacon) (states.Plan, error) {
	name := python.Str(a.Name)
	return ofExisting(c, "disable_beacon", a, "Disabled beacon "+name+".", "Job "+name+" is not configured.")
}

func ofExisting(c *states.Call, fun string, a beacon, did, missing string) (states.Plan, error) {
	all, err := current(c, a.KW)
	if err != nil || !all.Has(a.Name) {
		return states.Correct(missing), err
	}
	return change(c, fun, did, a.KW, a.Name)
}
