// Package sysctl is the state module sysctl: parameters of the kernel have values, now and after the next boot. Answers
// to salt/states/sysctl.py.
package sysctl

import (
	"strings"

	"brine/modules/execution/linux_sysctl"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module sysctl.
func Module() loader.Module {
	return loader.Module{File: "sysctl", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{states.Fn("present", present, "A parameter of the kernel has a value, now and after the next boot.",
			"vm.swappiness:", "  sysctl.present:", "    - value: 20")}
	}}
}

func virtual(place loader.Place) (bool, string) {
	if !place.Has("sysctl.show") {
		return false, "sysctl module could not be loaded"
	}
	return true, ""
}

type parameter struct {
	Name   string `arg:"name"`
	Value  any    `arg:"value"`
	Config any    `arg:"config=None"`
}

func present(c *states.Call, a parameter) (states.Plan, error) {
	value := python.Str(a.Value)
	failed := func(err error) string { return "Failed to set " + a.Name + " to " + value + ": " + loader.Message(err) }
	s, err := linux_sysctl.Look(c.Call, a.Name, a.Value, a.Config)
	if err != nil {
		return states.Wrong(failed(err)), nil
	}
	if s.Right() {
		return states.Correct("Sysctl value " + a.Name + " = " + value + " is already set"), nil
	}
	return states.Would(would(s), nil, func() (states.Done, error) {
		if _, err := s.Persist(c.Call); err != nil {
			return states.Failed(failed(err), nil)
		}
		return states.Changed("Updated sysctl value "+a.Name+" = "+value, payload.M(a.Name, a.Value))
	}), nil
}

// would says what is wrong. Unlike Salt: a file with another value is wrong, too, where the kernel has the right one.
func would(s *linux_sysctl.Setting) string {
	switch {
	case s.Kept && s.Current == "":
		return "Sysctl value " + s.Name + " is present in configuration file but is not present in the running config. The " +
			"value " + s.Name + " is set to be changed to " + s.Value
	case s.Kept || s.Current == "":
		return "Sysctl option " + s.Name + " would be changed to " + s.Value
	case strings.Join(strings.Fields(s.Current), " ") != strings.Join(strings.Fields(s.Value), " "):
		return "Sysctl option " + s.Name + " set to be changed to " + s.Value
	}
	return "Sysctl value is currently set on the running system but not in a config file. Sysctl option " + s.Name +
		" set to be changed to " + s.Value + " in config file."
}
