// Package alias is the state module alias: a mail alias has a target, or is not there. Answers to salt/states/alias.py.
package alias

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module alias.
func Module() loader.Module {
	return loader.Module{File: "alias", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("present", present, "An alias has a target, or a list of them.",
				"root:", "  alias.present:", "    - target: admin@example.com"),
			states.Fn("absent", absent, "An alias is not there.", "guest:", "  alias.absent"),
		}
	}}
}

type (
	named struct {
		Name string `arg:"name"`
	}
	targeted struct {
		named
		Target any `arg:"target"`
	}
)

func present(c *states.Call, a targeted) (states.Plan, error) {
	there, err := c.Salt("aliases.has_target", nil, a.Name, a.Target)
	if err != nil {
		return states.Plan{}, err
	}
	if there == true {
		return states.Correct("Alias " + a.Name + " already present"), nil
	}
	what := a.Name + " -> " + python.Str(a.Target)
	return states.Would("Alias "+what+" is set to be added", nil, func() (states.Done, error) {
		set, err := c.Salt("aliases.set_target", nil, a.Name, a.Target)
		switch {
		case err != nil:
			return states.Done{}, err
		case !python.Truth(set):
			return states.Failed("Failed to set alias "+what, nil)
		}
		return states.Changed("Set email alias "+what, payload.M("alias", a.Name))
	}), nil
}

func absent(c *states.Call, a named) (states.Plan, error) {
	target, err := c.Salt("aliases.get_target", nil, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	if !python.Truth(target) {
		return states.Correct("Alias " + a.Name + " already absent"), nil
	}
	return states.Would("Alias "+a.Name+" is set to be removed", nil, func() (states.Done, error) {
		gone, err := c.Salt("aliases.rm_alias", nil, a.Name)
		switch {
		case err != nil:
			return states.Done{}, err
		case !python.Truth(gone):
			return states.Failed("Failed to remove alias "+a.Name, nil)
		}
		return states.Changed("Removed alias "+a.Name, payload.M("alias", a.Name))
	}), nil
}
