package master

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

// functionOptions are what the runner and wheel functions get of the configuration.
type functionOptions struct {
	values  *payload.Map                      // all of it, as the master began with
	fromNow func() (*payload.Map, error)      // as its files are now
	manager func(preserve bool) *keys.Manager // of keys; preserve: what is kept of minions outlives their keys
	version string                            // of Salt, as this master answers
	reactor func() (runners.Reactor, bool)    // the Reactor, if there is one
}

// functionParts are the parts of the master that its functions act on, beside what is inside.
type functionParts struct {
	machine  *machine.Machine
	cache    *datacache.Banks // of minions
	presence runners.Presence // who is connected
	jobs     *jobs.Jobs
	copies   *copies.Jobs
	pillars  *pillars
}

// ownFunctions runs the runner and wheel functions of this master. Any number of goroutines may use it.
type ownFunctions struct {
	inside
	functionParts
	run  runFunc
	envs map[runners.Kind]*loader.Env // of runner and wheel functions
	busy sync.Map                     // name of a runner's actor → its runners.Request
}

// newOwnFunctions registers the functions, which act on the master by what is inside and by its parts. The functions of
// the machine reach them from then on.
func newOwnFunctions(opt functionOptions, in inside, parts functionParts) *ownFunctions {
	f, manager := &ownFunctions{inside: in, functionParts: parts}, opt.manager(false)
	wheels, runs := loader.NewRegistry(), loader.NewRegistry()
	wheels.Lacks(absent.Of(absent.Wheel))
	wheels.Offer(all.Wheel(wheel.Options{Keys: manager, Events: in, Presence: f.presence, Values: opt.fromNow}))
	runs.Lacks(absent.Of(absent.Runner))
	runs.Offer(all.Runners(runners.Options{
		Publisher: in, Jobs: jobs.Settled{Jobs: f.jobs}, JobCaches: f.jobCache, Minions: f.cache, Banks: f.cache,
		Keys: manager, Presence: f.presence, Bus: in, Mine: in, Files: in.files, Pillar: f,
		Targets: in.targets.Expander, Token: f.makeToken, Running: f.list, Runners: runs, Wheel: wheels,
		Execution: f.machine.Env, Version: opt.version, Reactor: opt.reactor,
	}))
	for what, reg := range map[string]*loader.Registry{"wheels": wheels, "runners": runs} {
		reg.Limit(loader.LimitsOf(opt.values, what))
	}
	env := func(reg *loader.Registry) *loader.Env {
		return &loader.Env{Registry: reg, ID: in.opt.id, Opts: func() *payload.Map {
			return opt.values
		}, Host: loader.Host{Log: machine.Logger{Logger: in.log}}}
	}
	own, host := f.client(), &f.machine.Env.Host
	host.Runner, host.Wheel, host.Local = own, own, own
	f.envs = map[runners.Kind]*loader.Env{runners.KindRunner: env(runs), runners.KindWheel: env(wheels)}
	f.run = func(ctx context.Context, req runners.Request, fire func(string, *payload.Map)) *runners.Result {
		return runners.Run(ctx, f.envs[req.Kind], req, fire)
	}
	return f
}

// makeToken makes an eauth token for a runner function: {} for who is not known.
func (f *ownFunctions) makeToken(fields *payload.Map) (*payload.Map, error) {
	tok, err := f.rules.Load().Eauth.MakeToken(fields, "")
	var denied *eauth.Denied
	if errors.As(err, &denied) {
		return payload.NewMap(0), nil
	}
	return tok, err
}

// Lookup finds a runner or wheel function.
func (f *ownFunctions) Lookup(kind, fun string) (*loader.Func, bool) {
	return f.envs[runners.Kind(kind)].Registry.Lookup(fun)
}

// Compile shows a runner function a pillar.
func (f *ownFunctions) Compile(ctx context.Context, q pillar.Question) (*payload.Map, error) {
	return f.pillars.Compile(ctx, q)
}

// Top shows a runner function what the top files of pillars say together.
func (f *ownFunctions) Top(ctx context.Context, q pillar.Question) (*payload.Map, []any, error) {
	return f.pillars.compiler.Top(ctx, q)
}

// list tells the runner functions under way, as jobs.master shows them.
func (f *ownFunctions) list() []*payload.Map {
	var out []*payload.Map
	f.busy.Range(func(_, v any) bool {
		req := v.(runners.Request)
		out = append(out, payload.M("fun", string(req.Kind)+"."+req.Fun, "jid", req.JID, "user", req.User, "fun_args",
			req.Args, "tgt", f.opt.id, "pid", int64(os.Getpid())))
		return true
	})
	slices.SortFunc(out, func(a, b *payload.Map) int { return strings.Compare(a.Str("jid"), b.Str("jid")) })
	return out
}

// atWork are the runner and wheel functions that run as actors.
func (f *ownFunctions) atWork() []any {
	list := []any{}
	f.busy.Range(func(name, v any) bool {
		req, ok := v.(runners.Request)
		if !ok {
			return true
		}
		run := payload.M("jid", req.JID, "fun", string(req.Kind)+"."+req.Fun, "user", req.User)
		if child, err := f.tree().Look(name.(string)); err == nil {
			run.Set("since", stats.Stamp(child.Since))
		}
		list = append(list, run)
		return true
	})
	return list
}
