package master

import "time"

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
