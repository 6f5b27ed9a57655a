// Package wheel holds the functions that manage the master itself: key, config, file_roots, pillar_roots, minions, error. Salt's tools
// call them by name with wheel requests; salt-key stands on the same operations. runners.Run runs them with
// runners.KindWheel. Answers to salt/wheel.
package wheel

import (
	"context"
	"slices"

	"brine/modules/absent"
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/wire/payload"
)

// EventFirer puts an event on the master's bus.
type EventFirer interface {
	Fire(ctx context.Context, tag string, data *payload.Map) error
}

// Presence tells which minions are connected, and from which address.
type Presence interface {
	Connected() (map[string]string, error)
}

// Options are what the functions stand on. The master's options come with the call (loader.Env): conf_file,
// config_dir and default_include among them. A nil member makes the functions that need it answer with an error.
type Options struct {
	Keys     *keys.Manager
	Events   EventFirer
	Presence Presence
	Values   func() (*payload.Map, error) // reads the configuration again, as it is in force (config.values)
}

// Register adds every wheel function to reg.
func Register(reg *loader.Registry, o Options) error {
	w := &wheel{Options: o}
	reg.Lacks(absent.Of(absent.Wheel))
	return reg.Register(slices.Concat(w.keyFuncs(), w.makeFuncs(), w.configFuncs(), w.rootFuncs(), w.otherFuncs())...)
}

// wheel carries the options into the functions.
type wheel struct{ Options }

func unavailable(what string) error {
	return loader.ExecErr("this process has no %s", what)
}

func (w *wheel) otherFuncs() []loader.Func {
	return []loader.Func{
		{Name: "minions.connected", Source: "salt/wheel/minions.py", Run: w.connected,
			Doc: "List the minions connected to the master."},
		{Name: "error.error", Source: "salt/wheel/error.py", Run: raise,
			Params: []loader.Param{loader.Opt("name", nil), loader.Opt("message", "")},
			Doc:    "Raise an exception by its name; without one return an empty map."},
	}
}

func (w *wheel) connected(*loader.Call, loader.Args) (any, error) {
	if w.Presence == nil {
		return nil, unavailable("presence detection")
	}
	all, err := w.Presence.Connected()
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return payload.AnyList(ids), nil
}

func raise(_ *loader.Call, a loader.Args) (any, error) {
	if a.Get("name") == nil {
		return payload.NewMap(0), nil
	}
	return nil, loader.Raise(a.Str("name"), "%s", a.Str("message"))
}
