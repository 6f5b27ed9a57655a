package master

import (
	"path/filepath"
	"time"

	"brine/supervisor"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// tagQuarantine is the event of a message that was set aside because the same actor died of it twice.
const tagQuarantine = "brine/actor/quarantine"

// deathsFile is where the last deaths are kept for the next start, in the cache directory.
const deathsFile = "brine_deaths.jsonl"

// Content is what the peer sent.
func (m *HandleRequest) Content() []byte { return m.Frame }

// Content is the packed event.
func (m *FireEvent) Content() []byte { return m.Body }

// Content is what the peer sent, of a request in clear. A sealed one is never the same twice.
func (w *Work) Content() []byte { return w.Req.frame }

// quarantined tells the bus of a message that was set aside.
func (c *core) quarantined(q stats.Quarantined) {
	if _, ok := c.tree.Load().Lookup(nameEventPublisher); ok {
		if body := c.events.pack(tagQuarantine, payload.M("actor", q.Path, "message", q.Message, "hash", q.Hash, "size", q.Size, "reason", q.Reason)); body != nil {
			c.events.putNow(body) // the supervisor waits for nobody
		}
	}
}

// supervised are the options of the tree that come from the configuration.
func (c *core) supervised() supervisor.Options {
	cfg := c.cfg
	return supervisor.Options{
		Name: "master", Logger: c.log, RestartDelayMax: cfg.RestartDelayMax, WaitForKill: cfg.StopTimeout, Chaos: cfg.Chaos,
		WorkerTimeout: workerTimeout(cfg.WorkerTimeout, cfg.RequestTimeout), ComponentTimeout: cfg.ComponentTimeout, HistoryFile: filepath.Join(cfg.CacheDir, deathsFile),
		OnQuarantine: c.quarantined,
	}
}

// workerGrace is how much longer than a request a handler may run by default: the ReqServer, which looks at its
// requests every deadlineTick, then answers for it and ends its worker before it is left behind.
const workerGrace = 5 * time.Second

// workerTimeout is how long a handler may run.
func workerTimeout(own, request time.Duration) time.Duration {
	if own != 0 {
		return own
	}
	return request + workerGrace
}
