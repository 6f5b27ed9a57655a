// Package wheel is what the functions that manage the master itself stand on, and what the modules file_roots and
// pillar_roots have in common. Salt's tools call the functions by name with wheel requests; a module of them is a
// folder below. runners.Run runs them with runners.KindWheel. Answers to salt/wheel.
package wheel

import (
	"context"

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

// Unavailable is the answer of a function that lacks a part of the master.
func Unavailable(what string) error {
	return loader.ExecErr("this process has no %s", what)
}
