package master

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"

	"brine/config"
	"brine/modules"
	"brine/modules/execution"
	"brine/modules/fleet/keys"
	"brine/modules/runners"
	"brine/modules/wheel"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// ownFunctions runs the runner and wheel functions of this master. Any number of goroutines may use it.
type ownFunctions struct {
	inside
	run     runFunc
	manager func(preserve bool) *keys.Manager // of keys
	jobs    *jobs
	busy    sync.Map // name of a runner's actor → its runners.Request
}

// newOwnFunctions registers the functions, which act on the master by what is inside.
func newOwnFunctions(in inside, st *stores, who *attendance, jobs *jobs, version string) (*ownFunctions, error) {
	f := &ownFunctions{inside: in, jobs: jobs, manager: func(preserve bool) *keys.Manager { return keyManager(in.cfg, st, preserve) }}
	manager := f.manager(false)
	wheels, runs := modules.NewRegistry(), modules.NewRegistry()
	onMaster, err := execution.NewEnv(execution.Machine{ID: in.cfg.ID, Opts: in.cfg.Raw, Version: version, ZMQVersion: zmq.LibraryVersion()})
	if err != nil {
		return nil, err
	}
	onMaster.Host.Log = logger{in.log}
	err = errors.Join(
		wheel.Register(wheels, wheel.Options{Keys: manager, Events: in, Presence: who, Values: func() (*payload.Map, error) {
			m, err := config.LoadMaster(in.cfg.ConfFile, nil)
			if err != nil {
				return nil, err
			}
			return m.Raw, nil
		}}),
		runners.Register(runs, runners.Options{
			Publisher: in, Jobs: settledJobs{jobs}, Data: st.cache, Keys: manager, Presence: who, Bus: in, Mine: in, Files: in.files, Targets: in.targets.expander,
			Running: f.list, Runners: runs, Wheel: wheels, Execution: onMaster, Version: version,
		}))
	if err != nil {
		return nil, err
	}
	for what, reg := range map[string]*modules.Registry{"wheels": wheels, "runners": runs} {
		reg.Limit(modules.LimitsOf(in.cfg.Raw, what))
	}
	env := func(reg *modules.Registry) *modules.Env {
		return &modules.Env{Registry: reg, ID: in.cfg.ID, Opts: func() *payload.Map { return in.cfg.Raw }, Host: modules.Host{Log: logger{in.log}}}
	}
	envs := map[runners.Kind]*modules.Env{runners.KindRunner: env(runs), runners.KindWheel: env(wheels)}
	f.run = func(ctx context.Context, req runners.Request, fire func(string, *payload.Map)) *runners.Result {
		return runners.Run(ctx, envs[req.Kind], req, fire)
	}
	return f, nil
}

// keyManager changes keys on the master's behalf.
func keyManager(cfg *config.Master, st *stores, preserve bool) *keys.Manager {
	o := keys.Configured(cfg)
	o.PreserveMinions, o.Data = preserve, func() (keys.DataCache, error) { return st.cache, nil }
	return keys.NewManager(st.keys, o)
}

// list tells the runner functions under way, as jobs.master shows them.
func (f *ownFunctions) list() []*payload.Map {
	var out []*payload.Map
	f.busy.Range(func(_, v any) bool {
		req := v.(runners.Request)
		out = append(out, payload.M("fun", string(req.Kind)+"."+req.Fun, "jid", req.JID, "user", req.User, "fun_args", req.Args,
			"tgt", f.cfg.ID, "pid", int64(os.Getpid())))
		return true
	})
	slices.SortFunc(out, func(a, b *payload.Map) int { return strings.Compare(a.Str("jid"), b.Str("jid")) })
	return out
}

// logger is the master's log as functions write to it.
type logger struct{ *slog.Logger }

// Log writes one line.
func (l logger) Log(level slog.Level, text string) { l.Logger.Log(context.Background(), level, text) }
