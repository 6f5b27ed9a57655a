// Package config is the runner module config: it shows options of the master. Answers to salt/runners/config.py.
package config

import (
	"brine/modules/loader"
	"brine/modules/matchers"
)

// Module is the module config.
func Module() loader.Module {
	return loader.Module{File: "config", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("get", get, "Show an option of the master, nested ones by a path.",
				"salt-run config.get file_roots:base"),
		}
	}}
}

type lookup struct {
	Key       string `arg:"key"`
	Default   any    `arg:"default=''"`
	Delimiter string `arg:"delimiter=:"`
}

func get(c *loader.Call, a lookup) (any, error) {
	if v, ok := matchers.Traverse(c.Opts(), a.Key, a.Delimiter); ok {
		return v, nil
	}
	return a.Default, nil
}
