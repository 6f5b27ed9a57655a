package saltcall

import (
	"context"
	"log/slog"
	"sync"

	"brine/cmd/saltrun"
	"brine/modules/execution"
	"brine/modules/loader"
	"brine/modules/pillar"
	"brine/wire/payload"
)

// build makes the environment of the functions. It reads nothing before a function needs it.
func (t *callTool) build() {
	machine := saltrun.MachineOf(t.Minion.ID, t.Minion.Raw)
	machine.Refresh = t.Opt.Bool("refresh_grains_cache")
	env := execution.NewEnv(machine)
	env.Host = loader.Host{Log: callLog{t.Log}, Events: callEvents{t}, Daemon: callDaemon{t}}
	saltrun.OfferMaster(t.Log)(env)
	t.env = env
	if t.servesItself() {
		t.pillarFrom(pillar.NewOwn(env))
	}
}

// servesItself tells whether files and pillar come from this machine, even if masters are configured.
func (t *callTool) servesItself() bool { return t.Minion.FileClient == "local" }

// pillarFrom gives the functions a pillar that is compiled at its first use.
func (t *callTool) pillarFrom(source loader.PillarSource) {
	t.env.Host.Secrets = source
	t.env.Pillar = sync.OnceValue(func() *payload.Map {
		data, err := source.Compile(context.Background(), loader.PillarQuery{Saltenv: t.Minion.SaltEnv,
			Pillarenv: t.Minion.PillarEnv})
		if err != nil {
			t.Log.Error("Exception getting pillar: " + err.Error())
		} else if _, ofMaster := source.(callMaster); ofMaster && t.Minion.MinionPillarCache &&
			t.Minion.Raw.Str("file_client") == "remote" {
			t.keepPillar(data)
		}
		return data
	})
}

// keepPillar writes the pillar to files (minion_pillar_cache).
func (t *callTool) keepPillar(data *payload.Map) {
	if err := pillar.KeepOnMinion(t.Minion.CacheDir, t.Minion.ID, t.Minion.SaltEnv, data); err != nil {
		t.Log.Error("The pillar could not be kept in files (minion_pillar_cache): " + err.Error())
	}
}

// callLog passes the log lines of functions on.
type callLog struct{ log *slog.Logger }

// Log writes a line.
func (l callLog) Log(level slog.Level, text string) { l.log.Log(context.Background(), level, text) }

// LogAs writes a line under a logger's name.
func (l callLog) LogAs(name string, level slog.Level, text string) {
	l.log.Log(context.Background(), level, text, "actor", name)
}
