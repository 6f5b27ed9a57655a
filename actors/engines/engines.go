// Package engines makes the engines of a master or a minion, and the other programs beside a master, children of its
// supervisor: each is an actor that dies when its engine ends, for whatever reason, and is started anew by the rules of
// ProcessManager. What an engine does is in modules/engines. Answers to salt/engines/__init__.py.
package engines

import (
	"context"
	"log/slog"
	"strings"

	"brine/modules/engines"
	"brine/supervisor"
)

// What the names of the children begin with.
const (
	prefix    = "Engine-"
	prefixExt = "ExtProcess-"
)

// IsChild tells whether the actor at a path, that of the daemon included, is one of these. Its death is its own affair:
// a daemon starts without it.
func IsChild(path string) bool {
	_, name, _ := strings.Cut(path, "/")
	return strings.HasPrefix(name, prefix) || strings.HasPrefix(name, prefixExt)
}

// Options are what the engines of a daemon need.
type Options struct {
	Engines  any // the option engines
	Ext      any // the option ext_processes; nil: there is none
	Role     string
	ID       string // of the daemon
	MaxEvent int    // max_event_size in bytes
	Daemon   engines.Daemon
	Log      *slog.Logger
}

// Set is the engines of a daemon.
type Set struct {
	Children []supervisor.Spec
	Reactor  *engines.ReactorTuning // nil: the Reactor is not among the engines
}

// New reads the options. Those of which it cannot make anything are an error, all of them.
func New(opt Options) (*Set, error) {
	set := &Set{}
	named, err := engines.Parse(opt.Engines, opt.Role)
	if err != nil {
		return nil, err
	}
	for _, n := range named {
		if n.Tuning != nil {
			set.Reactor = n.Tuning
			continue
		}
		set.Children = append(set.Children, opt.child(prefix, n))
	}
	programs, python, err := engines.ParseExt(opt.Ext)
	if err != nil {
		return nil, err
	}
	for _, class := range python {
		opt.Log.Error("Error creating ext_processes process: "+class, "why",
			"brine runs programs, not classes in Python (docs/engines.md)")
	}
	for _, n := range programs {
		set.Children = append(set.Children, opt.child(prefixExt, n))
	}
	return set, nil
}

func (o Options) child(kind string, n engines.Named) supervisor.Spec {
	name := kind + n.Name
	around := engines.Surroundings{Daemon: o.Daemon, Role: o.Role, ID: o.ID, MaxEvent: o.MaxEvent,
		Log: o.Log.With("actor", name)}
	return supervisor.Spec{Name: name, New: func() supervisor.Actor { return &runs{engine: n.Engine, around: around} }}
}

// runs is an engine that lives. It gets no messages: what it does is done in a goroutine of its own.
type runs struct {
	engine engines.Engine
	around engines.Surroundings
}

func (r *runs) Receive(ctx supervisor.Context) {
	switch ctx.Message().(type) {
	case *supervisor.Started:
		r.onStarted(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (r *runs) onStarted(ctx supervisor.Context) {
	engine, around := r.engine, r.around
	supervisor.Go(ctx, "engine", func(ctx context.Context) error {
		err := engine.Run(ctx, around)
		if err == nil {
			err = engines.ErrEnded
		}
		return err // while ctx lives, the actor dies of it
	})
}
