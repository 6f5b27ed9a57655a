package saltcall

import (
	"context"
	"log/slog"

	"brine/cmd/saltrun"
	"brine/modules"
	"brine/modules/execution"
)

// build puts together what the functions stand on. Nothing is read before a function asks for it.
func (t *callTool) build() error {
	machine := saltrun.MachineOf(t.Minion.ID, t.Minion.Raw)
	machine.Refresh = t.Opt.Bool("refresh_grains_cache")
	env, err := execution.NewEnv(machine)
	if err != nil {
		return err
	}
	env.Host = modules.Host{Log: callLog{t.Log}, Events: callEvents{t}, Daemon: callDaemon{t}}
	saltrun.OfferMaster(t.Log)(env)
	t.env = env
	return nil
}

// callLog takes the log lines of functions.
type callLog struct{ log *slog.Logger }

// Log writes a line.
func (l callLog) Log(level slog.Level, text string) { l.log.Log(context.Background(), level, text) }
