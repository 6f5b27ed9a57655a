// Package minions is the wheel module minions: which minions are connected. Answers to salt/wheel/minions.py.
package minions

import (
	"maps"
	"slices"

	"brine/modules/loader"
	"brine/modules/wheel"
	"brine/wire/payload"
)

// Module is the module minions.
func Module(o wheel.Options) loader.Module {
	return loader.Module{File: "minions", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("connected", connected(o.Presence), "List the minions connected to the master."),
		}
	}}
}

func connected(who wheel.Presence) func(*loader.Call, struct{}) ([]any, error) {
	return func(*loader.Call, struct{}) ([]any, error) {
		if who == nil {
			return nil, wheel.Unavailable("presence detection")
		}
		all, err := who.Connected()
		if err != nil {
			return nil, err
		}
		return payload.AnyList(slices.Sorted(maps.Keys(all))), nil
	}
}
