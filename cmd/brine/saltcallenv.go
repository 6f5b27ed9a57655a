package main

import (
	"context"
	"log/slog"

	"brine/modules"
	"brine/modules/execution"
	"brine/modules/grains"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// build puts together what the functions stand on. Nothing is read before a function asks for it.
func (t *callTool) build() error {
	reg := modules.NewRegistry()
	if err := execution.Register(reg, execution.Options{Version: saltVersion}); err != nil {
		return err
	}
	m := t.minion
	reg.Limit(modules.LimitsOf(m.Raw, "modules"))
	facts := grains.New(grains.Options{Opts: m.Raw, Static: m.Grains, Version: saltVersion, ZMQVersion: zmq.LibraryVersion(), Refresh: t.opt.Bool("refresh_grains_cache")})
	t.env = &modules.Env{Registry: reg, ID: m.ID, Opts: func() *payload.Map { return m.Raw }, Grains: facts.Map, GrainOf: facts.Get,
		Host: modules.Host{Log: callLog{t.log}, Events: callEvents{t}, Daemon: callDaemon{t}}}
	offerMaster(t.log)(t.env)
	return nil
}

// callLog takes the log lines of functions.
type callLog struct{ log *slog.Logger }

// Log writes a line.
func (l callLog) Log(level slog.Level, text string) { l.log.Log(context.Background(), level, text) }
