// Package stateconf is the state module stateconf: states that do nothing, which hold the parameters of a tree. Answers
// to salt/states/stateconf.py.
package stateconf

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
)

// Module is the state module stateconf.
func Module() loader.Module {
	return loader.Module{File: "stateconf", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("set", nothing, "Do nothing: the arguments are for templates.").Named("_no_op"),
			states.Fn("context", nothing, "Do nothing: the arguments are for templates.").Named("_no_op"),
		}
	}}
}

type anything struct {
	Name any          `arg:"name"`
	KW   *payload.Map `arg:"**kwargs"`
}

func nothing(*states.Call, anything) (states.Plan, error) { return states.Correct(""), nil }
