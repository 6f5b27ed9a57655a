package react

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
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
	"brine/supervisor"
	"brine/wire/bus"
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

// Options are what the Reactor needs of the minion.
type Options struct {
	ID       string                 // of this minion
	Tuning   *engines.ReactorTuning // nil: the Reactor is not among the engines
	Values   *payload.Map           // all options, for templates
	CacheDir string
	Env      func() *loader.Env // what functions run in, for a master that is there
	Registry *loader.Registry
	Fire     func(tag string, data *payload.Map) bool
	// Subscribe shows the events of the bus to sink.
	Subscribe func(name string, sink bus.Sink)
	// Run hands a job to the jobs: result gets its return, ended is called when it is over.
	Run   func(load *payload.Map, result func(*payload.Return), ended func())
	Clock supervisor.Clock
	Log   *slog.Logger
}

// Reactions is what the Reactor of a minion stands on; nil: there is no Reactor. Any number of goroutines may use it.
type Reactions struct {
	opt  Options
	part *reacting.Part
	own  *fileserver.Server // file_roots of this minion; nil: there are none
	jids atomic.Uint64
}

// New makes the part, where the engines of the minion name the Reactor; else it is nil.
func New(opt Options) (*Reactions, error) {
	if opt.Tuning == nil {
		return nil, nil
	}
	r := &Reactions{opt: opt}
	var err error
	if r.own, err = fileserver.Configured(opt.Values); err != nil {
		opt.Log.Warn("the Reactor does not have all files of this minion", "err", err)
	}
	r.part, err = reacting.New(reacting.Options{Rules: opt.Values.Value("reactor"),
		Threads: opt.tuned(opt.Tuning.Threads, "reactor_worker_threads", reactorThreads),
		Queue:   opt.tuned(opt.Tuning.Queue, "reactor_worker_hwm", reactorQueue),
		Path:    filepath.Join(opt.CacheDir, backlogFile), ID: opt.ID, Engine: r.templates().Engine, Do: r,
		Fire:      func(tag string, data *payload.Map) { opt.Fire(tag, data) },
		Subscribe: opt.Subscribe, MasterKey: func(string) bool { return false }, Log: opt.Log})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Children are the actors of the Reactor.
func (r *Reactions) Children() []daemon.Child {
	if r == nil {
		return nil
	}
	return []daemon.Child{{Spec: r.part.Keeper()}, {Spec: r.part.Child()}}
}

// tuned is an option of the engine, of the configuration, or Salt's.
func (o *Options) tuned(given int, option string, def int) int {
	if given >= 0 {
		return given
	}
	if n, ok := o.Values.Int(option); ok {
		return int(n)
	}
	return def
}

// Halt is called before anything of the minion stops.
func (r *Reactions) Halt() {
	if r != nil {
		r.part.Halt()
	}
}

// Close is called when all has stopped.
func (r *Reactions) Close() error {
	if r == nil {
		return nil
	}
	return r.part.Close()
}

// templates are what the templates of reactions see of this minion.
func (r *Reactions) templates() reacting.Templates {
	env := r.opt.Env
	return reacting.Templates{Opts: r.opt.Values, Grains: func() *payload.Map { return env().Grains() },
		Registry: r.opt.Registry, Functions: anyFunction{}, Files: r.find,
		Pillar: func() *payload.Map { return env().Pillar() },
		Call: func(ctx context.Context, fun string, pos []any, kw *payload.Map) (any, error) {
			return loader.NewCall(ctx, env(), fun, payload.M("fun", fun)).Call(fun, pos, kw)
		}}
}

// find finds a file of the file server: below the file_roots of this minion, as Salt's Reactor does, and where it is
// not there, unlike Salt, as the minion's functions do.
func (r *Reactions) find(ctx context.Context, name string) (string, bool) {
	if r.own != nil {
		if found, _, ok := r.own.Find(name, "base"); ok {
			return found.Path, true
		}
	}
	client, err := fileclient.For(loader.NewCall(ctx, r.opt.Env(), "cp.cache_file", nil))
	var file string
	found := false
	if err == nil {
		file, found, err = client.GetFile(ctx, "salt://"+name, fileclient.Want{Env: "base"})
	}
	if err != nil {
		r.opt.Log.Error("the Reactor cannot fetch a file", "file", payload.Show(name), "err", err)
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
func (r *Reactions) NextJID() string {
	return fmt.Sprintf("%s_r%d", payload.NewJID(r.opt.Clock.Now()), r.jids.Add(1))
}

// Publish refuses.
func (r *Reactions) Publish(_ context.Context, _ string, c reactor.Call) error { return refusal(c) }

// Published says that there is no such job.
func (r *Reactions) Published(string) bool { return false }

// Run refuses.
func (r *Reactions) Run(_ string, c reactor.Call, _ func(error)) error { return refusal(c) }

// Execute runs a function of this minion as a job, and waits for its end. No master hears of it, and no returner.
func (r *Reactions) Execute(ctx context.Context, c reactor.Call) error {
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
	r.opt.Run(load, end, func() { end(nil) })
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
func (r *Reactions) load(c reactor.Call) (*payload.Map, error) {
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
	return payload.M("id", r.opt.ID, "fun", c.Fun, "fun_args", given, jobs.FieldSchedule, "reactor: "+c.ID,
			loader.FieldReaction, c.ID, "jid", r.NextJID(), "arg", given, "user", reactor.User, jobs.FieldReturnJob,
			false),
		nil
}

// Show tells an operator about the Reactor.
func (r *Reactions) Show() control.Reactor {
	if r == nil {
		return control.Reactor{}
	}
	return r.part.Show()
}

// Try tells what an event would set off. Nothing is run.
func (r *Reactions) Try(ctx context.Context, tag string, data *payload.Map) (control.ReactorTrial, error) {
	if r == nil {
		return control.ReactorTrial{}, errors.New("there is no Reactor: the option engines does not name it")
	}
	return r.part.Try(ctx, tag, data), nil
}
