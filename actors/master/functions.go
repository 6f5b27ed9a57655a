package master

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"brine/modules/absent"
	"brine/modules/all"
	"brine/modules/eauth"
	"brine/modules/execution"
	"brine/modules/fleet/door"
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/modules/runners"
	"brine/modules/wheel"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// functionOptions are what the runner and wheel functions get of the configuration.
type functionOptions struct {
	values  *payload.Map                      // all of it, as the master began with
	fromNow func() (*payload.Map, error)      // as its files are now
	manager func(preserve bool) *keys.Manager // of keys; preserve: what is kept of minions outlives their keys
	version string                            // of Salt, as this master answers
}

// ownFunctions runs the runner and wheel functions of this master. Any number of goroutines may use it.
type ownFunctions struct {
	inside
	run       runFunc
	jobs      *jobs
	onMaster  *loader.Env                    // of execution functions on this machine
	envs      map[runners.Kind]*loader.Env   // of the others
	reactor   func() (runners.Reactor, bool) // the Reactor, if there is one
	calls     *returnerCalls
	returners func() (*loader.Registry, error) // all of this machine
	busy      sync.Map                         // name of a runner's actor → its runners.Request
	pillars   atomic.Pointer[pillars]          // they need onMaster, and are needed by runners
}

// newOwnFunctions registers the functions, which act on the master by what is inside.
func newOwnFunctions(opt functionOptions, in inside, st *stores, who *attendance, jobs *jobs) (*ownFunctions, error) {
	f, manager := &ownFunctions{inside: in, jobs: jobs}, opt.manager(false)
	wheels, runs := loader.NewRegistry(), loader.NewRegistry()
	machine := execution.Machine{ID: in.opt.id, Opts: opt.values, Version: opt.version,
		ZMQVersion: zmq.LibraryVersion()}
	onMaster := execution.NewEnv(machine)
	onMaster.Host.Log = logger{in.log}
	kept := machine.Returners()
	f.calls = &returnerCalls{kept, onMaster}
	wheels.Lacks(absent.Of(absent.Wheel))
	wheels.Offer(all.Wheel(wheel.Options{Keys: manager, Events: in, Presence: who, Values: opt.fromNow}))
	runs.Lacks(absent.Of(absent.Runner))
	runs.Offer(all.Runners(runners.Options{
		Publisher: in, Jobs: settledJobs{jobs}, JobCaches: f.jobCache, Minions: st.cache, Banks: st.cache,
		Keys: manager, Presence: who, Bus: in, Mine: in, Files: in.files, Pillar: f, Targets: in.targets.expander,
		Token:   f.makeToken,
		Running: f.list, Runners: runs, Wheel: wheels, Execution: onMaster, Version: opt.version,
		Reactor: func() (runners.Reactor, bool) { return f.reactor() },
	}))
	for what, reg := range map[string]*loader.Registry{"wheels": wheels, "runners": runs} {
		reg.Limit(loader.LimitsOf(opt.values, what))
	}
	env := func(reg *loader.Registry) *loader.Env {
		return &loader.Env{Registry: reg, ID: in.opt.id, Opts: func() *payload.Map {
			return opt.values
		}, Host: loader.Host{Log: logger{in.log}}}
	}
	f.returners = func() (*loader.Registry, error) { return kept, nil }
	own := f.client()
	onMaster.Host.Runner, onMaster.Host.Wheel, onMaster.Host.Local = own, own, own
	f.onMaster, f.envs = onMaster, map[runners.Kind]*loader.Env{runners.KindRunner: env(runs),
		runners.KindWheel: env(wheels)}
	f.run = func(ctx context.Context, req runners.Request, fire func(string, *payload.Map)) *runners.Result {
		return runners.Run(ctx, f.envs[req.Kind], req, fire)
	}
	return f, nil
}

// makeToken makes an eauth token for a runner function: {} for who is not known.
func (f *ownFunctions) makeToken(fields *payload.Map) (*payload.Map, error) {
	tok, err := f.rules.Load().eauth.MakeToken(fields, "")
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
	return f.pillars.Load().Compile(ctx, q)
}

// Top shows a runner function what the top files of pillars say together.
func (f *ownFunctions) Top(ctx context.Context, q pillar.Question) (*payload.Map, []any, error) {
	return f.pillars.Load().compiler.Top(ctx, q)
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

// logger is the master's log as functions write to it.
type logger struct{ *slog.Logger }

// Log writes one line.
func (l logger) Log(level slog.Level, text string) {
	door.Known(l.Logger).Log(context.Background(), level, text)
}

// LogAs writes one line under another name than that of the actor.
func (l logger) LogAs(name string, level slog.Level, text string) {
	door.Known(l.Logger).Log(context.Background(), level, text, "actor", name)
}
