package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How a daemon that works spares the garbage collector. Its heap is small, so it collects with every four megabytes of
// garbage, many times a second under load, which is a tenth of what a job costs on a minion. Memory that load needs goes
// back when it is over (settleMemory).
const (
	busyUse    = 200 * time.Millisecond // of processor time within settleLook are load
	restGOGC   = 100                    // Go's own
	busyGOGC   = 400                    // at most, with a small heap
	busyExtra  = 24 << 20               // bytes of garbage beyond what there may be with restGOGC
	liveMetric = "/gc/heap/live:bytes"  // what the last collection has found in use
)

// pacing says how much garbage there may be, out of the processor time that was used until a moment.
type pacing struct {
	last time.Duration // used at the last look
	set  int           // the percentage that holds
}

// next takes a look; live is the size of what is in use.
func (p *pacing) next(used time.Duration, live uint64) (percent int, changed bool) {
	percent = restGOGC
	if used-p.last >= busyUse {
		percent = min(busyGOGC, restGOGC+int(busyExtra*100/max(live, 1)))
	}
	changed = percent != p.set
	p.last, p.set = used, percent
	return percent, changed
}

// ownPacing tells whether the collector is ours to pace: who starts us with GOGC has decided himself.
func ownPacing() bool { return os.Getenv("GOGC") == "" }

// pace applies a look to this process.
func (p *pacing) pace(used time.Duration) {
	live := []metrics.Sample{{Name: liveMetric}}
	metrics.Read(live)
	if percent, changed := p.next(used, live[0].Value.Uint64()); changed {
		debug.SetGCPercent(percent)
	}
}
