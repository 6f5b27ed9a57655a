// Package machine is the host of the master: the execution functions and the returners that the master itself calls
// there. A Machine owns their registries. It asks no other part; package run offers the master to the functions.
package machine

import (
	"context"
	"log/slog"

	"brine/modules/execution"
	"brine/modules/fleet/door"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/jobcache"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// Machine is the host of this master: its execution functions and its returners. Any number of goroutines may use it.
type Machine struct {
	Env       *loader.Env      // of execution functions
	Returners *loader.Registry // all of this machine
}

// Options are what the functions get of the configuration.
type Options struct {
	ID      string       // of this master
	Values  *payload.Map // all of it, as the master began with
	Version string       // of Salt, as this master answers
}

// New registers the functions. Nothing of the daemon is within their reach: the caller offers it (loader.Host).
func New(opt Options, log *slog.Logger) *Machine {
	of := execution.Machine{ID: opt.ID, Opts: opt.Values, Version: opt.Version, ZMQVersion: zmq.LibraryVersion()}
	env := execution.NewEnv(of)
	env.Host.Log = Logger{log}
	return &Machine{env, of.Returners()}
}

// ReturnEvents hands events to one returner.
func (m *Machine) ReturnEvents(ctx context.Context, name string, events []any) error {
	return returners.Events(loader.NewCall(ctx, m.Env, name+".event_return", nil), m.Returners, name, events)
}

// Missing tells which of some returners lack a function.
func (m *Machine) Missing(names []string, fun string) (out []string) {
	for _, name := range names {
		if _, ok := m.Returners.Lookup(name + "." + fun); !ok {
			out = append(out, name)
		}
	}
	return out
}

// JobCache is a returner as a job cache.
func (m *Machine) JobCache(name string) jobcache.Cache {
	return jobcache.Cache{Name: name, Registry: m.Returners, Env: m.Env}
}

// Logger is the master's log as functions write to it.
type Logger struct{ *slog.Logger }

// Log writes one line.
func (l Logger) Log(level slog.Level, text string) {
	door.Known(l.Logger).Log(context.Background(), level, text)
}

// LogAs writes one line under another name than that of the actor.
func (l Logger) LogAs(name string, level slog.Level, text string) {
	door.Known(l.Logger).Log(context.Background(), level, text, "actor", name)
}
