// Package process is the state module process: a state that ends processes. Answers to salt/states/process.py.
package process

import (
	"fmt"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module process.
func Module() loader.Module {
	return loader.Module{File: "process", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("absent", absent, "End the processes whose command line has a text.", "kill-it:",
				"  process.absent:", "    - name: memcached", "    - user: nobody"),
		}
	}}
}

func virtual(place loader.Place) (loads bool, why string) {
	if place.Has("ps.pkill") {
		return true, ""
	}
	return false, "ps module could not be loaded"
}

type named struct {
	Name   any `arg:"name"`
	User   any `arg:"user=None"`
	Signal any `arg:"signal=None"`
}

const noneRuns = "No matching processes running"

// absent looks by the names of processes in test mode, and at their command lines else, as in Salt.
func absent(c *states.Call, a named) (states.Plan, error) {
	would := noneRuns
	if c.Test {
		v, err := c.Salt("ps.pgrep", payload.M("user", a.User), a.Name)
		if err != nil {
			return states.Plan{}, err
		}
		if pids, _ := v.([]any); len(pids) > 0 {
			would = fmt.Sprintf("%d processes will be killed", len(pids))
		}
	}
	return states.Would(would, nil, func() (states.Done, error) {
		kw := payload.M("user", a.User, "full", true)
		if python.Truth(a.Signal) {
			kw.Set("signal", a.Signal)
		}
		v, err := c.Salt("ps.pkill", kw, a.Name)
		if err != nil {
			return states.Done{}, err
		}
		killed, ok := v.(*payload.Map)
		if !ok {
			return states.Changed(noneRuns, nil)
		}
		return states.Changed(fmt.Sprintf("Killed %d processes", len(killed.List("killed"))), killed)
	}), nil
}
