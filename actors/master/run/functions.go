// Package run runs the runner and wheel functions of the master, each as an actor of its own. Functions owns their
// registries and the runs under way. By Inside they reach the master through mailboxes, as salt-run does through
// sockets. It asks the packages targets, files, pillars, jobs, copies and the event bus.
package run

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"brine/actors/master/copies"
	"brine/actors/master/jobs"
	"brine/actors/master/machine"
	"brine/actors/master/pillars"
	"brine/modules/absent"
	"brine/modules/all"
	"brine/modules/eauth"
	"brine/modules/fleet/datacache"
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/modules/runners"
	"brine/modules/wheel"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// Options are what the runner and wheel functions get of the configuration.
type Options struct {
	Values  *payload.Map                      // all of it, as the master began with
	FromNow func() (*payload.Map, error)      // as its files are now
	Manager func(preserve bool) *keys.Manager // of keys; preserve: what is kept of minions outlives their keys
	Version string                            // of Salt, as this master answers
	Reactor func() (runners.Reactor, bool)    // the Reactor, if there is one
	Around  func(inner Func) Func             // puts something before the functions, for tests; nil: nothing
}

// Parts are the parts of the master that its functions act on, beside what is inside.
type Parts struct {
	Machine  *machine.Machine
	Cache    *datacache.Banks // of minions
	Presence runners.Presence // who is connected
	Jobs     *jobs.Jobs
	Copies   *copies.Jobs
	Pillars  *pillars.Pillars
}

// Functions runs the runner and wheel functions of this master. Any number of goroutines may use it.
type Functions struct {
	Inside
	parts Parts
	run   Func
	envs  map[runners.Kind]*loader.Env // of runner and wheel functions
	busy  sync.Map                     // name of a runner's actor → its runners.Request
}

// New registers the functions, which act on the master by what is inside and by its parts. The functions of
// the machine reach them from then on.
func New(opt Options, in Inside, parts Parts) *Functions {
	f, manager := &Functions{Inside: in, parts: parts}, opt.Manager(false)
	wheels, runs := loader.NewRegistry(), loader.NewRegistry()
	wheels.Lacks(absent.Of(absent.Wheel))
	wheels.Offer(all.Wheel(wheel.Options{Keys: manager, Events: in, Presence: f.parts.Presence, Values: opt.FromNow}))
	runs.Lacks(absent.Of(absent.Runner))
	runs.Offer(all.Runners(runners.Options{
		Publisher: in, Jobs: jobs.Settled{Jobs: f.parts.Jobs}, JobCaches: f.jobCache, Minions: f.parts.Cache,
		Banks: f.parts.Cache, Keys: manager, Presence: f.parts.Presence, Bus: in, Mine: in, Files: in.parts.Files, Pillar: f,
		Targets: in.parts.Targets.Expander, Token: f.makeToken, Running: f.Running, Runners: runs, Wheel: wheels,
		Execution: f.parts.Machine.Env, Version: opt.Version, Reactor: opt.Reactor,
	}))
	for what, reg := range map[string]*loader.Registry{"wheels": wheels, "runners": runs} {
		reg.Limit(loader.LimitsOf(opt.Values, what))
	}
	env := func(reg *loader.Registry) *loader.Env {
		return &loader.Env{Registry: reg, ID: in.opt.ID, Opts: func() *payload.Map {
			return opt.Values
		}, Host: loader.Host{Log: machine.Logger{Logger: in.log}}}
	}
	own, host := f.client(), &f.parts.Machine.Env.Host
	host.Runner, host.Wheel, host.Local = own, own, own
	f.envs = map[runners.Kind]*loader.Env{runners.KindRunner: env(runs), runners.KindWheel: env(wheels)}
	f.run = func(ctx context.Context, req runners.Request, fire func(string, *payload.Map)) *runners.Result {
		return runners.Run(ctx, f.envs[req.Kind], req, fire)
	}
	if opt.Around != nil {
		f.run = opt.Around(f.run)
	}
	return f
}

// Run runs a function in the goroutine of its caller and fires its events.
func (f *Functions) Run(ctx context.Context, req runners.Request,
	fire func(tag string, data *payload.Map)) *runners.Result {
	return f.run(ctx, req, fire)
}

// Env is what the runner or wheel functions are called in.
func (f *Functions) Env(kind runners.Kind) *loader.Env { return f.envs[kind] }

// Begin counts a run of an actor among those under way, until over is called.
func (f *Functions) Begin(actor string, req runners.Request) (over func()) {
	f.busy.Store(actor, req)
	return func() { f.busy.Delete(actor) }
}

// makeToken makes an eauth token for a runner function: {} for who is not known.
func (f *Functions) makeToken(fields *payload.Map) (*payload.Map, error) {
	tok, err := f.Inside.parts.Rules.Load().Eauth.MakeToken(fields, "")
	var denied *eauth.Denied
	if errors.As(err, &denied) {
		return payload.NewMap(0), nil
	}
	return tok, err
}

// Lookup finds a runner or wheel function.
func (f *Functions) Lookup(kind, fun string) (*loader.Func, bool) {
	return f.envs[runners.Kind(kind)].Registry.Lookup(fun)
}

// Compile shows a runner function a pillar.
func (f *Functions) Compile(ctx context.Context, q pillar.Question) (*payload.Map, error) {
	return f.parts.Pillars.Compile(ctx, q)
}

// Top shows a runner function what the top files of pillars say together.
func (f *Functions) Top(ctx context.Context, q pillar.Question) (*payload.Map, []any, error) {
	return f.parts.Pillars.Compiler.Top(ctx, q)
}

// Running tells the runner functions under way, as jobs.master shows them.
func (f *Functions) Running() []*payload.Map {
	var out []*payload.Map
	f.busy.Range(func(_, v any) bool {
		req := v.(runners.Request)
		out = append(out, payload.M("fun", string(req.Kind)+"."+req.Fun, "jid", req.JID, "user", req.User, "fun_args",
			req.Args, "tgt", f.opt.ID, "pid", int64(os.Getpid())))
		return true
	})
	slices.SortFunc(out, func(a, b *payload.Map) int { return strings.Compare(a.Str("jid"), b.Str("jid")) })
	return out
}

// AtWork are the runner and wheel functions that run as actors.
func (f *Functions) AtWork() []any {
	list := []any{}
	f.busy.Range(func(name, v any) bool {
		req, ok := v.(runners.Request)
		if !ok {
			return true
		}
		run := payload.M("jid", req.JID, "fun", string(req.Kind)+"."+req.Fun, "user", req.User)
		if child, err := f.Inside.parts.Tree().Look(name.(string)); err == nil {
			run.Set("since", stats.Stamp(child.Since))
		}
		list = append(list, run)
		return true
	})
	return list
}
