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
	"brine/wire/ipc"
	"brine/wire/payload"
)

// Errors an operator may see.
var (
	ErrUnknownCommand = errors.New("admin: no such command")
	ErrNotAllowed     = errors.New("admin: only root and the daemon's user may do this")
	ErrUnknownActor   = errors.New("admin: no such actor, see brine tree")
	ErrWholeDaemon    = errors.New("admin: one actor must be named; the daemon itself is left alone")
	ErrTooLate        = errors.New("admin: whoever asked for this does not wait for it any more; nothing is done")
	ErrNoChaos        = errors.New("admin: actors are harmed only where the configuration says chaos: True")
)

// command is a row of the table of what an operator can ask.
type command struct {
	run     Query
	changes bool
	private bool // it only reads, but what not everybody may know
}

// table is all of them. A command that is not in it does not exist.
type table map[string]command

func newTable(opt Options) table {
	o := &operator{tree: opt.Tree, since: opt.since, version: opt.Version, config: opt.Config, asides: opt.Bundle}
	t := table{
		"stack":   {run: o.stack, private: true},
		"bundle":  {run: o.bundle, private: true},
		"tree":    {run: o.tell},
		"history": {run: o.history},
		"process": {run: o.process},
		"restart": {run: o.restart, changes: true},
		"crash":   {run: o.crash, changes: true},
	}
	t["help"] = command{run: t.help}
	for name, run := range opt.Queries {
		t[name] = command{run: run}
	}
	for name, run := range opt.Private {
		t[name] = command{run: run, private: true}
	}
	for name, run := range opt.Commands {
		t[name] = command{run: run, changes: true}
	}
	return t
}

// handle answers one request and says what it was.
func (t table) handle(ctx context.Context, peer ipc.Peer, request *payload.Map) (*payload.Map, *Answered) {
	began := time.Now()
	name := request.Str("cmd")
	cmd, known := t[name]
	done := &Answered{Command: name, UID: peer.UID, Changes: cmd.changes}
	var result any
	switch {
	case !known:
		done.Err = fmt.Errorf("%w: %q", ErrUnknownCommand, name)
	case (cmd.changes || cmd.private) && !trusted(peer):
		done.Err = fmt.Errorf("%s: %w", name, ErrNotAllowed)
	case cmd.changes && late(request):
		done.Err = fmt.Errorf("%s: %w", name, ErrTooLate)
	default:
		result, done.Err = cmd.run(ctx, request)
	}
	done.Took = time.Since(began)
	if done.Err != nil {
		return nil, done
	}
	return payload.M("result", result), done
}

// late says whether the one who asks said that he waits until a time that is over: the daemon may have been frozen.
func late(request *payload.Map) bool {
	until, ok := request.Int("until")
	return ok && time.Now().UnixMicro() > until
}

func (t table) help(context.Context, *payload.Map) (any, error) {
	out := payload.NewMap(len(t))
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out.Set(name, payload.M("changes", t[name].changes, "private", t[name].private))
	}
	return out, nil
}

// operator holds what the commands of this package work on.
type operator struct {
	tree    *supervisor.Supervisor
	since   time.Time
	version string
	config  func() *payload.Map
	asides  map[string]Query // of the daemon, for a bundle
}

// path is the actor that a request names, as it stands in the tree or without the daemon's name.
func (o *operator) path(request *payload.Map) string {
	name := request.Str("name")
	if name == o.tree.Name() {
		return ""
	}
	return strings.TrimPrefix(name, o.tree.Name()+"/")
}

func (o *operator) tell(_ context.Context, request *payload.Map) (any, error) {
	child, err := o.tree.Look(request.Str("name"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", request.Str("name"), ErrUnknownActor)
	}
	return child.Map(), nil
}

func (o *operator) history(context.Context, *payload.Map) (any, error) {
	return stats.List(o.tree.History()), nil
}

func (o *operator) stack(_ context.Context, request *payload.Map) (any, error) {
	path := o.path(request)
	text, err := o.tree.Stack(path)
	if errors.Is(err, supervisor.ErrUnknown) {
		return nil, fmt.Errorf("%s: %w", path, ErrUnknownActor)
	}
	return payload.M("path", strings.TrimSuffix(o.tree.Name()+"/"+path, "/"), "stack", text), err
}

// acting does something to the actor that a request names, and tells its path.
func (o *operator) acting(request *payload.Map, do func(path string) error) (any, error) {
	path := o.path(request)
	if path == "" {
		return nil, ErrWholeDaemon
	}
	err := do(path)
	if errors.Is(err, supervisor.ErrUnknown) {
		err = fmt.Errorf("%s: %w", path, ErrUnknownActor)
	}
	return payload.M("path", o.tree.Name()+"/"+path), err
}

func (o *operator) restart(_ context.Context, request *payload.Map) (any, error) {
	return o.acting(request, o.tree.Restart)
}

func (o *operator) crash(_ context.Context, request *payload.Map) (any, error) {
	return o.acting(request, func(path string) error {
		err := o.tree.Inject(path, supervisor.Fault(request.Str("how")))
		if errors.Is(err, supervisor.ErrNoChaos) {
			return ErrNoChaos
		}
		return err
	})
}
