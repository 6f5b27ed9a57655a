// Package environ is the state module environ: a state that sets environment variables of the run. Answers to
// salt/states/environ.py.
package environ

import (
	"strings"

	"brine/modules/host/environ"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
)

// Module is the state module environ.
func Module() loader.Module {
	return loader.Module{File: "environ", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("setenv", setenv, "Set environment variables of the run.", "proxy:", "  environ.setenv:",
				"    - name: http_proxy", "    - value: http://proxy:3128"),
		}
	}}
}

type setting struct {
	Name         any `arg:"name"`
	Value        any `arg:"value"`
	FalseUnsets  any `arg:"false_unsets=False"`
	ClearAll     any `arg:"clear_all=False"`
	UpdateMinion any `arg:"update_minion=False"`
	Permanent    any `arg:"permanent=False"` // is for Windows
}

func setenv(c *states.Call, a setting) (states.Plan, error) {
	var wanted *payload.Map
	switch v := a.Value.(type) {
	case string:
		wanted = payload.M(a.Name, v)
	case *payload.Map:
		wanted = v
	default:
		if v != false {
			return states.Wrong("Environ value must be string, dict or False"), nil
		}
		wanted = payload.M(a.Name, v)
	}
	changes := a.changes(wanted, variables(c))
	if changes.Len() == 0 {
		if c.Test {
			return states.Correct("Environ values are already set with the correct values"), nil
		}
		return states.Correct("Environ values were already set with the correct values"), nil
	}
	p := states.Would("Environ values will be changed", changes, func() (states.Done, error) {
		v, err := c.Salt("environ.setenv", nil, wanted, a.FalseUnsets, a.ClearAll, a.UpdateMinion, a.Permanent)
		set, ok := v.(*payload.Map)
		switch {
		case err != nil:
			return states.Done{}, err
		case !ok || set.Len() == 0:
			return states.Failed("Failed to set environ variables", changes)
		}
		return states.Changed("Environ values were set", set)
	})
	p.Result = true // in test mode, as Salt has it
	return p, nil
}

// variables are those of the run.
func variables(c *states.Call) *payload.Map {
	out := payload.NewMap(0)
	for _, pair := range environ.Of(c.Ctx).List() {
		name, value, _ := strings.Cut(pair, "=")
		out.Set(name, value)
	}
	return out
}

// changes are the variables that are not yet as wanted: None is one that goes.
func (a setting) changes(wanted, now *payload.Map) *payload.Map {
	out := payload.NewMap(0)
	var gone any = ""
	if a.FalseUnsets == true {
		gone = nil
	}
	if a.ClearAll == true {
		for name := range now.All() {
			if !wanted.Has(name) {
				out.Set(name, gone)
			}
		}
	}
	for name, v := range wanted.All() {
		old, there := now.Get(name)
		if !there {
			old = ""
		}
		switch {
		case v == false && (!there && gone != nil || there && (gone == nil || old != "")):
			out.Set(name, gone)
		case v != false && old != v:
			out.Set(name, v)
		}
	}
	return out
}
