// Package error is the wheel module error: it raises exceptions. Answers to salt/wheel/error.py.
package error

import (
	"brine/modules/loader"
	"brine/wire/payload"
)

// Module is the module error.
func Module() loader.Module {
	return loader.Module{File: "error", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("error", raise, "Raise an exception by its name; without one return an empty map."),
		}
	}}
}

type exception struct {
	Name    any    `arg:"name=None"`
	Message string `arg:"message=''"`
}

func raise(_ *loader.Call, a exception) (*payload.Map, error) {
	if a.Name == nil {
		return payload.NewMap(0), nil
	}
	return nil, loader.Raise(loader.Text(a.Name), "%s", a.Message)
}
