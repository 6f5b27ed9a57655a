// Package locale is the state module locale: the host has a locale, and a locale is there. Answers to
// salt/states/locale.py.
package locale

import (
	"errors"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module locale.
func Module() loader.Module {
	return loader.Module{File: "locale", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("system", system, "The host has a locale.", "de_DE.UTF-8:", "  locale.system"),
			states.Fn("present", present, "A locale is there.", "de_DE.UTF-8:", "  locale.present"),
		}
	}}
}

func virtual(place loader.Place) (bool, string) {
	if !place.Has("locale.get_locale") {
		return false, "'locale.get_locale' is not available."
	}
	return true, ""
}

type named struct {
	Name string `arg:"name"`
}

// refused is what a failure of the functions below makes of the state system.
func refused(err error) (text string, ok bool) {
	var exec *loader.CommandExecutionError
	return "Failed to set system locale: " + loader.Message(err), errors.As(err, &exec)
}

func system(c *states.Call, a named) (states.Plan, error) {
	now, err := c.Salt("locale.get_locale", nil)
	if err != nil {
		if text, ok := refused(err); ok {
			return states.Wrong(text), nil
		}
		return states.Plan{}, err
	}
	if now == a.Name {
		return states.Correct("System locale " + a.Name + " already set"), nil
	}
	return states.Would("System locale "+a.Name+" needs to be set", nil, func() (states.Done, error) {
		set, err := c.Salt("locale.set_locale", nil, a.Name)
		if err != nil {
			if text, ok := refused(err); ok {
				return states.Failed(text, nil)
			}
			return states.Done{}, err
		}
		if !python.Truth(set) {
			return states.Failed("Failed to set system locale to "+a.Name, nil)
		}
		return states.Changed("Set system locale "+a.Name, payload.M("locale", a.Name))
	}), nil
}

func present(c *states.Call, a named) (states.Plan, error) {
	there, err := c.Salt("locale.avail", nil, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	if python.Truth(there) {
		return states.Correct("Locale " + a.Name + " is already present"), nil
	}
	return states.Would("Locale "+a.Name+" needs to be generated", nil, func() (states.Done, error) {
		made, err := c.Salt("locale.gen_locale", nil, a.Name)
		if err != nil {
			return states.Done{}, err
		}
		if !python.Truth(made) {
			return states.Failed("Failed to generate locale "+a.Name, nil)
		}
		return states.Changed("Generated locale "+a.Name, payload.M("locale", a.Name))
	}), nil
}
