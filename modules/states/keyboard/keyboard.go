// Package keyboard is the state module keyboard: the keyboard has a layout, of the console or of X. Answers to
// salt/states/keyboard.py.
package keyboard

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module keyboard.
func Module() loader.Module {
	return loader.Module{File: "keyboard", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("system", layout{"sys", "System", "system"}.plan, "The keyboard of the host has a layout.",
				"us:", "  keyboard.system"),
			states.Fn("xorg", layout{"x", "XOrg", "XOrg"}.plan, "The keyboard of X has a layout.", "us:", "  keyboard.xorg"),
		}
	}}
}

func virtual(place loader.Place) (bool, string) {
	if !place.Has("keyboard.get_sys") {
		return false, "keyboard module could not be loaded"
	}
	return true, ""
}

// layout is one of the two: the end of its functions' names, and its name at the beginning and within a sentence.
type layout struct{ function, begins, within string }

type named struct {
	Name string `arg:"name"`
}

func (l layout) plan(c *states.Call, a named) (states.Plan, error) {
	now, err := c.Salt("keyboard.get_"+l.function, nil)
	if err != nil {
		return states.Plan{}, err
	}
	if now == a.Name {
		return states.Correct(l.begins + " layout " + a.Name + " already set"), nil
	}
	return states.Would(l.begins+" layout "+a.Name+" needs to be set", nil, func() (states.Done, error) {
		set, err := c.Salt("keyboard.set_"+l.function, nil, a.Name)
		switch {
		case err != nil:
			return states.Done{}, err
		case !python.Truth(set):
			return states.Failed("Failed to set "+l.within+" keyboard layout", nil)
		}
		return states.Changed("Set "+l.within+" keyboard layout "+a.Name, payload.M("layout", a.Name))
	}), nil
}
