package minion

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"brine/actors/daemon"
	"brine/actors/minion/jobs"
	"brine/actors/reacting"
	"brine/modules/engines"
	"brine/modules/fileclient"
	"brine/modules/fileserver"
	"brine/modules/loader"
	"brine/modules/reactor"
	"brine/modules/text/args"
	"brine/wire/control"
	"brine/wire/payload"
	"brine/wire/python"
)

// backlogFile holds, in the cache directory, the events that the Reactor has yet to react to.
const backlogFile = "reactor.backlog"

// The Reactor's bounds where neither the engine nor the configuration names them, as Salt's.
const (
	reactorThreads = 10
	reactorQueue   = 10000
)

// reactions is what the Reactor of a minion stands on. Any number of goroutines may use it.
type reactions struct {
	m    *Minion
	part *reacting.Part
	own  *fileserver.Server // file_roots of this minion; nil: there are none
	jids atomic.Uint64
}

// reactorRows are the Reactor as children of the minion, where its engines name it (tuning).
func (m *Minion) reactorRows(tuning *engines.ReactorTuning) ([]daemon.Child, error) {
	if tuning == nil {
		return nil, nil
	}
	r := &reactions{m: m}
	var err error
	if r.own, err = fileserver.Configured(m.own.values); err != nil {
		m.log.Warn("the Reactor does not have all files of this minion", "err", err)
	}
	r.part, err = reacting.New(reacting.Options{Rules: m.own.values.Value("reactor"),
		Threads: m.tuned(tuning.Threads, "reactor_worker_threads", reactorThreads), Queue: m.tuned(tuning.Queue,
			"reactor_worker_hwm", reactorQueue), Path: m.own.backlog, ID: m.own.id, Engine: r.templates().Engine, Do: r,
		Fire: func(tag string, data *payload.Map) {
			m.fire(tag, data)
		},
		Subscribe: m.bus.Subscribe,
		MasterKey: func(string) bool { return false }, Log: m.log})
	if err != nil {
		return nil, err
	}
	m.reactions = r
	return []daemon.Child{{Spec: r.part.Keeper()}, {Spec: r.part.Child()}}, nil
}

// tuned is an option of the engine, of the configuration, or Salt's.
func (m *Minion) tuned(given int, option string, def int) int {
	if given >= 0 {
		return given
	}
	if n, ok := m.own.values.Int(option); ok {
		return int(n)
	}
	return def
}

// halt is called before anything of the minion stops.
func (r *reactions) halt() {
	if r != nil {
		r.part.Halt()
	}
}

// close is called when all has stopped.
func (r *reactions) close() error {
	if r == nil {
		return nil
	}
	return r.part.Close()
}

// templates are what the templates of reactions see of this minion.
func (r *reactions) templates() reacting.Templates {
	m := r.m
	return reacting.Templates{Opts: m.own.values, Grains: func() *payload.Map {
		return m.envOf(m.anyLink()).Grains()
	}, Registry: m.opt.Registry, Functions: anyFunction{}, Files: r.find,
		Pillar: func() *payload.Map { return m.facts.Of(m.anyLink()).Pillar() },
		Call: func(ctx context.Context, fun string, pos []any, kw *payload.Map) (any, error) {
			return loader.NewCall(ctx, m.envOf(m.anyLink()), fun, payload.M("fun", fun)).Call(fun, pos, kw)
		}}
}

// find finds a file of the file server: below the file_roots of this minion, as Salt's Reactor does, and where it is
// not there, unlike Salt, as the minion's functions do.
func (r *reactions) find(ctx context.Context, name string) (string, bool) {
	if r.own != nil {
		if found, _, ok := r.own.Find(name, "base"); ok {
			return found.Path, true
		}
	}
	client, err := fileclient.For(loader.NewCall(ctx, r.m.envOf(r.m.anyLink()), "cp.cache_file", nil))
	var file string
	found := false
	if err == nil {
		file, found, err = client.GetFile(ctx, "salt://"+name, fileclient.Want{Env: "base"})
	}
	if err != nil {
		r.m.log.Error("the Reactor cannot fetch a file", "file", payload.Show(name), "err", err)
	}
	return file, found && err == nil
}

// anyFunction has each runner and wheel function, with any arguments: the refusal is Run's, whatever a reaction looks
// like.
type anyFunction struct{}

// Lookup is part of reactor.Functions.
func (anyFunction) Lookup(_, fun string) (*loader.Func, bool) {
	return &loader.Func{Name: fun, VarArgs: true, KWArgs: true}, true
}

// refusal is why a reaction is not made. With Salt 3008.3, local finds no master, unless one runs beside the minion,
// and what a runner or wheel function returns is lost.
func refusal(c reactor.Call) error {
	return fmt.Errorf(
		"the Reactor of a minion has no %s reactions: it has caller, which runs a function of this minion", c.Kind)
}

// NextJID is a new job id. No other job of this minion has its form.
func (r *reactions) NextJID() string {
	return fmt.Sprintf("%s_r%d", payload.NewJID(r.m.clock.Now()), r.jids.Add(1))
}

// Publish refuses.
func (r *reactions) Publish(_ context.Context, _ string, c reactor.Call) error { return refusal(c) }

// Published says that there is no such job.
func (r *reactions) Published(string) bool { return false }

// Run refuses.
func (r *reactions) Run(_ string, c reactor.Call, _ func(error)) error { return refusal(c) }

// Execute runs a function of this minion as a job, and waits for its end. No master hears of it, and no returner.
func (r *reactions) Execute(ctx context.Context, c reactor.Call) error {
	load, err := r.load(c)
	if err != nil {
		return err
	}
	ended := make(chan *payload.Return, 1)
	end := func(ret *payload.Return) {
		select {
		case ended <- ret:
		default: // it has its end
		}
	}
	r.m.jobs.Run(&jobs.Run{Load: load, Link: r.m.anyLink(), Result: end, Ended: func() { end(nil) }})
	select {
	case ret := <-ended:
		return failureOf(ret)
	case <-ctx.Done():
		return fmt.Errorf("the Reactor has ended before the job %s: %w", load.Str("jid"), context.Cause(ctx))
	}
}

// failureOf is what went wrong with a job; nil is one that has not begun.
func failureOf(ret *payload.Return) error {
	if ret == nil {
		return errors.New("the job was not begun: the minion stops")
	}
	if good, _ := ret.Success(); good {
		return nil
	}
	text := strings.TrimSpace(python.Str(ret.Value()))
	if at := strings.LastIndexByte(text, '\n'); strings.HasPrefix(text, "The minion function caused an exception") &&
		at >= 0 {
		text = text[at+1:]
	}
	return errors.New(text)
}

// load is a call in the form of a job of the schedule of which no master hears: such a job takes texts for texts,
// name=value among them. A map that would pass for the arguments by name is refused: it may have come with the event.
func (r *reactions) load(c reactor.Call) (*payload.Map, error) {
	pos := c.Args()
	for _, v := range pos {
		if m, ok := v.(*payload.Map); ok && m.Has(args.KwargMark) {
			return nil, loader.InvocErr("an argument has the key %s, which only the minion sets", args.KwargMark)
		}
	}
	given := append(make([]any, 0, len(pos)+1), pos...)
	if kw := c.KW(); kw.Len() > 0 {
		given = append(given, kw.Clone().Set(args.KwargMark, true))
	}
	return payload.M("id", r.m.own.id, "fun", c.Fun, "fun_args", given, jobs.FieldSchedule, "reactor: "+c.ID,
			loader.FieldReaction, c.ID, "jid", r.NextJID(), "arg", given, "user", reactor.User, jobs.FieldReturnJob,
			false),
		nil
}

// Reactor tells an operator about the Reactor.
func (m *Minion) Reactor() control.Reactor {
	if m.reactions == nil {
		return control.Reactor{}
	}
	return m.reactions.part.Show()
}

// TryReactor tells what an event would set off. Nothing is run.
func (m *Minion) TryReactor(ctx context.Context, tag string, data *payload.Map) (control.ReactorTrial, error) {
	if m.reactions == nil {
		return control.ReactorTrial{}, errors.New("there is no Reactor: the option engines does not name it")
	}
	return m.reactions.part.Try(ctx, tag, data), nil
}
