// Package reactor is the runner module reactor: it shows and changes the rules of the master's Reactor. Answers to
// salt/runners/reactor.py.
package reactor

import (
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
)

// Module is the module reactor.
func Module(o runners.Options) loader.Module {
	m := &master{o.Reactor}
	return loader.Module{File: "reactor", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("list", on(m, list), "List the rules of the Reactor.", "salt-run reactor.list").Named("list_"),
			loader.Fn("add", on(m, add), "Add a rule to the Reactor, until the master starts again.",
				"salt-run reactor.add 'salt/minion/*/start' reactors='/srv/reactor/start.sls'"),
			loader.Fn("delete", on(m, remove), "Take a rule of the Reactor away, until the master starts again.",
				"salt-run reactor.delete 'salt/minion/*/start'"),
			loader.Fn("is_leader", on(m, isLeader), "Tell whether the Reactor of this master reacts to events.",
				"salt-run reactor.is_leader"),
			loader.Fn("set_leader", on(m, setLeader), "Say whether the Reactor of this master reacts to events.",
				"salt-run reactor.set_leader False"),
		}
	}}
}

// master has a Reactor, perhaps.
type master struct {
	reactor func() (runners.Reactor, bool) // false: none runs
}

// on is a function that needs the Reactor.
func on[A, R any](m *master, run func(*loader.Call, runners.Reactor, A) (R, error)) func(*loader.Call, A) (R, error) {
	return func(c *loader.Call, a A) (none R, err error) {
		if m.reactor == nil {
			return none, runners.Unavailable("Reactor")
		}
		x, ok := m.reactor()
		if !ok {
			return none, loader.ExecErr("Reactor system is not running.")
		}
		return run(c, x, a)
	}
}

// place is what Salt's functions take besides; it has no meaning there either.
type place struct {
	Saltenv any `arg:"saltenv=base"`
	Test    any `arg:"test=None"`
}

func list(c *loader.Call, x runners.Reactor, _ place) ([]any, error) { return x.List(c.Ctx) }

type added struct {
	Event    any `arg:"event"`
	Reactors any `arg:"reactors"`
	place
}

func add(c *loader.Call, x runners.Reactor, a added) (*payload.Map, error) {
	sls := a.Reactors
	if one, ok := sls.(string); ok {
		sls = []any{one}
	}
	return x.Add(c.Ctx, a.Event, sls)
}

type removed struct {
	Event any `arg:"event"`
	place
}

func remove(c *loader.Call, x runners.Reactor, a removed) (*payload.Map, error) {
	return x.Delete(c.Ctx, a.Event)
}

func isLeader(c *loader.Call, x runners.Reactor, _ struct{}) (bool, error) { return x.Leader(c.Ctx) }

type leadership struct {
	Value bool `arg:"value=True"`
}

func setLeader(c *loader.Call, x runners.Reactor, a leadership) (bool, error) {
	return x.SetLeader(c.Ctx, a.Value)
}
