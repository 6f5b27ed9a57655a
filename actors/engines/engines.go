// Package engines makes the engines of a master or a minion, and the other programs beside a master, children
// of its supervisor. Each is an actor that dies when its engine ends for any reason, and is restarted by the
// rules of ProcessManager. The engines themselves are in modules/engines. Answers to salt/engines/__init__.py.
package engines

import (
	"context"
	"log/slog"
	"strings"

	"brine/modules/engines"
	"brine/supervisor"
)

// The names of the children begin with these prefixes.
const (
	prefix    = "Engine-"
	prefixExt = "ExtProcess-"
)

// IsChild tells whether a path, including the daemon's name, is that of an engine. The daemon starts even if
// such a child is dead.
func IsChild(path string) bool {
	_, name, _ := strings.Cut(path, "/")
	return strings.HasPrefix(name, prefix) || strings.HasPrefix(name, prefixExt)
}

// Options holds the daemon's data for its engines.
type Options struct {
	Engines  any // the option engines
	Ext      any // the option ext_processes; nil: none
	Role     string
	ID       string // id of the daemon
	MaxEvent int    // max_event_size in bytes
	Daemon   engines.Daemon
	Log      *slog.Logger
}

// Set holds the engines of a daemon.
type Set struct {
	Children []supervisor.Spec
	Reactor  *engines.ReactorTuning // nil: the Reactor is not among the engines
}

// New reads the options. The error names all faults in them.
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

// runs is a running engine. It gets no messages. Its work runs in a separate goroutine.
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
		return err // if ctx is alive, the actor dies of this error
	})
}
