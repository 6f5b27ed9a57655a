package master

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

// machine is the host of this master: its execution functions and its returners. Any number of goroutines may use it.
type machine struct {
	env       *loader.Env      // of execution functions
	returners *loader.Registry // all of this machine
}

// machineOptions are what the functions get of the configuration.
type machineOptions struct {
	id      string       // of this master
	values  *payload.Map // all of it, as the master began with
	version string       // of Salt, as this master answers
}

// newMachine registers the functions. Nothing of the daemon is within their reach: the caller offers it (loader.Host).
func newMachine(opt machineOptions, log *slog.Logger) (*machine, error) {
	of := execution.Machine{ID: opt.id, Opts: opt.values, Version: opt.version, ZMQVersion: zmq.LibraryVersion()}
	env, err := execution.NewEnv(of)
	if err != nil {
		return nil, err
	}
	env.Host.Log = logger{log}
	returners, err := of.Returners()
	if err != nil {
		return nil, err
	}
	return &machine{env, returners}, nil
}

// returnEvents hands events to one returner.
func (m *machine) returnEvents(ctx context.Context, name string, events []any) error {
	return returners.Events(loader.NewCall(ctx, m.env, name+".event_return", nil), m.returners, name, events)
}

// missing tells which of some returners lack a function.
func (m *machine) missing(names []string, fun string) (out []string) {
	for _, name := range names {
		if _, ok := m.returners.Lookup(name + "." + fun); !ok {
			out = append(out, name)
		}
	}
	return out
}

// jobCache is a returner as a job cache.
func (m *machine) jobCache(name string) jobcache.Cache {
	return jobcache.Cache{Name: name, Registry: m.returners, Env: m.env}
}

// logger is the master's log as functions write to it.
type logger struct{ *slog.Logger }

// Log writes one line.
func (l logger) Log(level slog.Level, text string) {
	door.Known(l.Logger).Log(context.Background(), level, text)
}

// LogAs writes one line under another name than that of the actor.
func (l logger) LogAs(name string, level slog.Level, text string) {
	door.Known(l.Logger).Log(context.Background(), level, text, "actor", name)
}
