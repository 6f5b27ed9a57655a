package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// These are errors that an operator may see.
var (
	ErrUnknownCommand = errors.New("admin: no such command")
	ErrNotAllowed     = errors.New("admin: only root and the daemon's user may do this")
	ErrUnknownActor   = errors.New("admin: no such actor, see brine tree")
	ErrWholeDaemon    = errors.New("admin: one actor must be named; the daemon itself is left alone")
	ErrTooLate        = errors.New("admin: the request has timed out; nothing is done")
	ErrNoChaos        = errors.New("admin: actors are harmed only where the configuration says chaos: True")
)

// command is a row in the table of commands.
type command struct {
	run     control.Handler
	changes bool
	private bool // it only reads, but not everyone may see the data
}

// table holds all commands. A command that is not in it does not exist.
type table map[string]command

func newTable(opt Options) table {
	o := &operator{tree: opt.Tree, since: opt.since, version: opt.Version, config: opt.Config, crashes: opt.Crashes,
		asides: opt.Bundle}
	own, private, changes := control.Handlers{}, control.Handlers{}, control.Handlers{}
	t := table{}
	control.On(own, o.tell)
	control.On(own, o.history)
	control.On(own, o.process)
	control.On(own, t.help)
	control.On(private, o.stack)
	control.On(private, o.bundle)
	control.On(changes, o.restart)
	control.On(changes, o.crash)
	for _, queries := range []control.Handlers{own, opt.Queries} {
		for name, run := range queries {
			t[name] = command{run: run}
		}
	}
	for _, queries := range []control.Handlers{private, opt.Private} {
		for name, run := range queries {
			t[name] = command{run: run, private: true}
		}
	}
	for _, commands := range []control.Handlers{changes, opt.Commands} {
		for name, run := range commands {
			t[name] = command{run: run, changes: true}
		}
	}
	return t
}

// handle answers one request and reports it. Without a reply the answer is the error.
func (t table) handle(ctx context.Context, peer ipc.Peer, request *payload.Map) (*payload.Map, *Answered) {
	began := time.Now()
	head := control.ReadHead(request)
	name := head.Command
	cmd, known := t[name]
	done := &Answered{Command: name, UID: peer.UID, Changes: cmd.changes}
	if done.Err = head.Check(); done.Err != nil {
		return control.Refusal(), done
	}
	var result any
	switch {
	case !known:
		done.Err = fmt.Errorf("%w: %q", ErrUnknownCommand, name)
	case (cmd.changes || cmd.private) && !trusted(peer):
		done.Err = fmt.Errorf("%s: %w", name, ErrNotAllowed)
	case cmd.changes && head.Late:
		done.Err = fmt.Errorf("%s: %w", name, ErrTooLate)
	default:
		result, done.Err = cmd.run(ctx, request)
	}
	done.Took = time.Since(began)
	if done.Err != nil {
		return nil, done
	}
	return control.Reply(result), done
}

func (t table) help(context.Context, control.GetHelp) (*payload.Map, error) {
	out := payload.NewMap(len(t))
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out.Set(name, payload.M("changes", t[name].changes, "private", t[name].private))
	}
	return out, nil
}

// operator holds the data for the commands of this package.
type operator struct {
	tree    *supervisor.Supervisor
	since   time.Time
	version string
	config  func() *payload.Map
	crashes func() []string  // paths of crash reports
	asides  map[string]Aside // the daemon's parts of a bundle
}

// path converts an actor's name, with or without the daemon's name, to a path.
func (o *operator) path(name string) string {
	if name == o.tree.Name() {
		return ""
	}
	return strings.TrimPrefix(name, o.tree.Name()+"/")
}

func (o *operator) tell(_ context.Context, q control.GetTree) (*payload.Map, error) {
	child, err := o.tree.Look(q.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", q.Name, ErrUnknownActor)
	}
	return child.Map(), nil
}

func (o *operator) history(context.Context, control.GetHistory) ([]any, error) {
	return stats.List(o.tree.History()), nil
}

func (o *operator) stack(_ context.Context, q control.GetStack) (control.Stack, error) {
	path := o.path(q.Name)
	text, err := o.tree.Stack(path)
	if errors.Is(err, supervisor.ErrUnknown) {
		return control.Stack{}, fmt.Errorf("%s: %w", path, ErrUnknownActor)
	}
	return control.Stack{Path: strings.TrimSuffix(o.tree.Name()+"/"+path, "/"), Stack: text}, err
}

// acting does something to the named actor, and returns the actor's path.
func (o *operator) acting(name string, do func(path string) error) (control.Acted, error) {
	path := o.path(name)
	if path == "" {
		return control.Acted{}, ErrWholeDaemon
	}
	err := do(path)
	if errors.Is(err, supervisor.ErrUnknown) {
		err = fmt.Errorf("%s: %w", path, ErrUnknownActor)
	}
	return control.Acted{Path: o.tree.Name() + "/" + path}, err
}

func (o *operator) restart(_ context.Context, q control.RestartActor) (control.Acted, error) {
	return o.acting(q.Name, o.tree.Restart)
}

func (o *operator) crash(_ context.Context, q control.CrashActor) (control.Acted, error) {
	return o.acting(q.Name, func(path string) error {
		err := o.tree.Inject(path, supervisor.Fault(q.How))
		if errors.Is(err, supervisor.ErrNoChaos) {
			return ErrNoChaos
		}
		return err
	})
}
