// Package status is the state module status: states that watch the load of the machine and its processes, and change
// nothing. Answers to salt/states/status.py.
package status

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module status.
func Module() loader.Module {
	return loader.Module{File: "status", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("loadavg", loadavg, "Check that the load is between two numbers.", "15-min:", "  status.loadavg:",
				"    - maximum: 2"),
			states.Fn("process", process, "Check that a process runs whose line matches a pattern."),
		}
	}}
}

type bounds struct {
	Name    any `arg:"name"`
	Maximum any `arg:"maximum=None"`
	Minimum any `arg:"minimum=None"`
}

// found is a plan that has the data of a watching state.
func found(result bool, comment string, data any) (states.Plan, error) {
	return states.Plan{Result: result, Comment: comment}.With("data", data), nil
}

// loadavg is the same in test mode.
func loadavg(c *states.Call, a bounds) (states.Plan, error) {
	v, err := c.Salt("status.loadavg", nil)
	if err != nil {
		return states.Plan{}, err
	}
	none := payload.NewMap(0)
	all, _ := v.(*payload.Map)
	load, ok := all.Get(a.Name)
	if !ok {
		return found(false, "Requested load average "+python.Str(a.Name)+" not available ", none)
	}
	limits := map[bool]float64{}
	for upper, given := range map[bool]any{true: a.Maximum, false: a.Minimum} {
		if !python.Truth(given) {
			continue
		}
		n, ok := python.Number(given)
		if !ok {
			return states.Plan{}, loader.Raise("ValueError", "could not convert string to float: %s",
				python.Repr(given))
		}
		limits[upper] = n
	}
	least, hasLeast := limits[false]
	most, hasMost := limits[true]
	if hasLeast && hasMost && least >= most {
		return found(false, "Min must be less than max", none)
	}
	now, _ := python.Number(load)
	switch {
	case hasLeast && now < least:
		return found(false, "Load avg is below minimum of "+python.Str(a.Minimum)+" at "+python.Str(now), load)
	case hasMost && now > most:
		return found(false, "Load avg above maximum of "+python.Str(a.Maximum)+" at "+python.Str(now), load)
	}
	return found(true, "Load avg in acceptable range", load)
}

type pattern struct {
	Name any `arg:"name"`
}

// process is the same in test mode.
func process(c *states.Call, a pattern) (states.Plan, error) {
	v, err := c.Salt("status.pid", nil, a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	signature := `Process signature "` + python.Str(a.Name) + `" `
	if !python.Truth(v) {
		return found(false, signature+"not found ", payload.NewMap(0))
	}
	return found(true, signature+"was found ", v)
}
