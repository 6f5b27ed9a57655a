package runners

import (
	"context"

	"brine/modules/loader"
	"brine/wire/payload"
)

// Reactor is the Reactor of the master, as its runner functions see it.
type Reactor interface {
	List(ctx context.Context) ([]any, error)
	// Add and Delete answer with {status, comment}.
	Add(ctx context.Context, tag, sls any) (*payload.Map, error)
	Delete(ctx context.Context, tag any) (*payload.Map, error)
	Leader(ctx context.Context) (bool, error)
	SetLeader(ctx context.Context, yes bool) (bool, error)
}

func (r *runner) reactorFuncs() []loader.Func {
	old := []loader.Param{loader.Opt("saltenv", "base"), loader.Opt("test", nil)}
	event := loader.Req("event")
	with := func(params ...loader.Param) []loader.Param { return append(params, old...) }
	funcs := []loader.Func{
		{Name: "reactor.list", PyName: "list_", Params: old, Run: onReactor(r, func(c *loader.Call, x Reactor, _ loader.Args) (any, error) { return x.List(c.Ctx) }),
			Doc: "List the rules of the Reactor.\n\nCLI Example:\n\n    salt-run reactor.list"},
		{Name: "reactor.add", Params: with(event, loader.Req("reactors")), Run: onReactor(r, reactorAdd),
			Doc: "Add a rule to the Reactor, until the master starts again.\n\nCLI Example:\n\n    salt-run reactor.add 'salt/minion/*/start' reactors='/srv/reactor/start.sls'"},
		{Name: "reactor.delete", Params: with(event),
			Run: onReactor(r, func(c *loader.Call, x Reactor, a loader.Args) (any, error) { return x.Delete(c.Ctx, a.Get("event")) }),
			Doc: "Take a rule of the Reactor away, until the master starts again.\n\nCLI Example:\n\n    salt-run reactor.delete 'salt/minion/*/start'"},
		{Name: "reactor.is_leader", Run: onReactor(r, func(c *loader.Call, x Reactor, _ loader.Args) (any, error) { return x.Leader(c.Ctx) }),
			Doc: "Tell whether the Reactor of this master reacts to events.\n\nCLI Example:\n\n    salt-run reactor.is_leader"},
		{Name: "reactor.set_leader", Params: []loader.Param{loader.Opt("value", true)},
			Run: onReactor(r, func(c *loader.Call, x Reactor, a loader.Args) (any, error) {
				return x.SetLeader(c.Ctx, a.Bool("value"))
			}),
			Doc: "Say whether the Reactor of this master reacts to events.\n\nCLI Example:\n\n    salt-run reactor.set_leader False"},
	}
	for i := range funcs {
		funcs[i].Source = "salt/runners/reactor.py"
	}
	return funcs
}

// onReactor is a function that needs the Reactor.
func onReactor(r *runner, f func(*loader.Call, Reactor, loader.Args) (any, error)) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) {
		if r.Reactor == nil {
			return nil, unavailable("Reactor")
		}
		x, ok := r.Reactor()
		if !ok {
			return nil, loader.ExecErr("Reactor system is not running.")
		}
		return f(c, x, a)
	}
}

func reactorAdd(c *loader.Call, x Reactor, a loader.Args) (any, error) {
	sls := a.Get("reactors")
	if one, ok := sls.(string); ok {
		sls = []any{one}
	}
	return x.Add(c.Ctx, a.Get("event"), sls)
}
