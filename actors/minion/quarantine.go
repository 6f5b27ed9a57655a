package minion

import (
	"bytes"
	"path/filepath"

	"brine/supervisor"
)

// deathsFile is where the last deaths are kept for the next start, in the cache directory.
const deathsFile = "brine_deaths.jsonl"

// The messages that are sent again when an actor died of them say what they are, so that the second death is the
// last (see supervisor.Content).

// Content is the publication as it came.
func (m *frameReceived) Content() []byte { return bytes.Join(m.frames, nil) }

// Content is the job, whoever published it.
func (m *JobReceived) Content() []byte { return []byte(m.Load.Str("jid")) }

// Content is the job that is answered.
func (m *SendReturn) Content() []byte { return []byte(m.Key) }

// supervised are the options of the tree that come from the configuration.
func (m *Minion) supervised() supervisor.Options {
	return supervisor.Options{
		Name: "minion", Logger: m.opt.Logger, Clock: m.opt.Clock, RestartDelayMax: m.cfg.RestartDelayMax, WaitForKill: m.cfg.StopTimeout,
		OnDeath: m.opt.OnDeath, Chaos: m.cfg.Chaos, WorkerTimeout: m.cfg.WorkerTimeout, HistoryFile: filepath.Join(m.cfg.CacheDir, deathsFile),
	}
}
