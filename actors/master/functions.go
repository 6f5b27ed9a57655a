package master

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"

	"brine/config"
	"brine/modules"
	"brine/modules/execution"
	"brine/modules/fleet/keys"
	"brine/modules/runners"
	"brine/modules/wheel"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// functionRunner makes the function that runs runner and wheel functions inside the master.
func functionRunner(c *core, version string) (runFunc, error) {
	in := inside{c}
	manager := c.manager(false)
	wheels, runs := modules.NewRegistry(), modules.NewRegistry()
	onMaster, err := execution.NewEnv(execution.Machine{ID: c.cfg.ID, Opts: c.cfg.Raw, Version: version, ZMQVersion: zmq.LibraryVersion()})
	if err != nil {
		return nil, err
	}
	onMaster.Host.Log = logger{c.log}
	err = errors.Join(
		wheel.Register(wheels, wheel.Options{Keys: manager, Events: in, Presence: c.attendance, Values: func() (*payload.Map, error) {
			m, err := config.LoadMaster(c.cfg.ConfFile, nil)
			if err != nil {
				return nil, err
			}
			return m.Raw, nil
		}}),
		runners.Register(runs, runners.Options{
			Publisher: in, Jobs: settledJobs{c}, Data: c.cache, Keys: manager, Presence: c.attendance, Bus: in, Mine: in, Targets: c.targets.expander,
			Running: c.runningRunners, Runners: runs, Wheel: wheels, Execution: onMaster, Version: version,
		}))
	if err != nil {
		return nil, err
	}
	for what, reg := range map[string]*modules.Registry{"wheels": wheels, "runners": runs} {
		reg.Limit(modules.LimitsOf(c.cfg.Raw, what))
	}
	env := func(reg *modules.Registry) *modules.Env {
		return &modules.Env{Registry: reg, ID: c.cfg.ID, Opts: func() *payload.Map { return c.cfg.Raw }, Host: modules.Host{Log: logger{c.log}}}
	}
	envs := map[runners.Kind]*modules.Env{runners.KindRunner: env(runs), runners.KindWheel: env(wheels)}
	return func(ctx context.Context, req runners.Request, fire func(string, *payload.Map)) *runners.Result {
		return runners.Run(ctx, envs[req.Kind], req, fire)
	}, nil
}

// keyManager changes keys on the master's behalf.
func keyManager(cfg *config.Master, st *stores, preserve bool) *keys.Manager {
	o := keys.Configured(cfg)
	o.PreserveMinions, o.Data = preserve, func() (keys.DataCache, error) { return st.cache, nil }
	return keys.NewManager(st.keys, o)
}

// revokeKey deletes the key of a minion that asks for it.
func (c *core) revokeKey(id string, preserve bool) error {
	m := c.manager(preserve)
	sel, err := m.MatchList([]string{id})
	if err != nil {
		return err
	}
	done, err := m.Delete(sel)
	for _, e := range done.Events {
		c.events.fire(event.TagKey, e.Data())
	}
	c.attendance.relink(id)
	return errors.Join(err, c.auth.Revoke(id))
}

// runningRunners lists the runner functions under way, as jobs.master shows them.
func (c *core) runningRunners() []*payload.Map {
	var out []*payload.Map
	c.runs.Range(func(_, v any) bool {
		req := v.(runners.Request)
		out = append(out, payload.M("fun", string(req.Kind)+"."+req.Fun, "jid", req.JID, "user", req.User, "fun_args", req.Args,
			"tgt", c.cfg.ID, "pid", int64(os.Getpid())))
		return true
	})
	slices.SortFunc(out, func(a, b *payload.Map) int { return strings.Compare(a.Str("jid"), b.Str("jid")) })
	return out
}

// logger is the master's log as functions write to it.
type logger struct{ *slog.Logger }

// Log writes one line.
func (l logger) Log(level slog.Level, text string) { l.Logger.Log(context.Background(), level, text) }
