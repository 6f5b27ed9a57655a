package supervisor

import (
	"time"

	"brine/supervisor/stats"
)

// keepDeaths is how many deaths are kept for each child.
const keepDeaths = 5

// face is the visible state of a child besides its counters. The supervisor writes it, under Ref.mu.
type face struct {
	id          string
	state       string
	since       time.Time
	incarnation int
	restarts    int
	left        int // number of abandoned incarnations
	deaths      []stats.Death
	hour        *stats.Hour // of restarts
	slow        *stats.Slow // the last one
	begun       bool        // an incarnation has handled Started
	ended       bool        // the child is gone
	samples     [2]sample
}

// sample is the time spent in handlers and the number of received messages, up to a time.
type sample struct {
	at, busy int64
	received uint64
}

// started must be called by the actor after it has handled Started.
func (r *Ref) started(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.face.incarnation != n || r.face.state != stats.StateStarting {
		return
	}
	r.setState(stats.StateRunning)
	if !r.face.begun {
		r.face.begun = true
		r.wakeWaiters()
	}
}

func (r *Ref) wakeWaiters() {
	if r.ready != nil {
		close(r.ready)
	}
}

func (r *Ref) setState(state string) {
	if r.face.state != state {
		r.face.state, r.face.since = state, r.sup.opt.Clock.Now()
	}
}

// show must be called by the core when the child's state has changed.
func (r *Ref) show(l life) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch l.phase {
	case up:
		return // spawned and started set it
	case gone:
		r.setState(stats.StateStopped)
		if !r.face.ended && !r.face.begun {
			r.wakeWaiters()
		}
		r.face.ended = true
	case waiting:
		r.setState(stats.StateBackoff)
	case down:
		switch {
		case l.next == rest:
			r.setState(stats.StateStopped)
		case l.n > 0:
			r.setState(stats.StateDead)
		}
	default:
		if l.next == again || l.next == respawn {
			r.setState(stats.StateRestarting)
		} else {
			r.setState(stats.StateStopping)
		}
	}
}

func (r *Ref) spawned(n int, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > 1 {
		r.face.restarts++
		if r.face.hour == nil {
			r.face.hour = new(stats.Hour)
		}
		r.face.hour.Add(r.sup.opt.Clock.Now())
	}
	r.face.incarnation, r.face.id = n, id
	r.setState(stats.StateStarting)
}

// leftBehind counts an incarnation that was abandoned.
func (r *Ref) leftBehind() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.face.left++
}

func (r *Ref) died(d stats.Death) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.face.deaths); n >= keepDeaths {
		r.face.deaths = append(r.face.deaths[:0:0], r.face.deaths[n-keepDeaths+1:]...)
	}
	r.face.deaths = append(r.face.deaths[:len(r.face.deaths):len(r.face.deaths)], d)
}

// sample records how busy the actor was, to calculate later its busy share and rate since then.
func (r *Ref) sample(now int64) {
	latest := sample{now, r.stats.Busy(now), r.received + r.inbox.received()}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.face.samples[0], r.face.samples[1] = r.face.samples[1], latest
}

// Snapshot returns everything about the child and its subtree. Like Supervisor.Snapshot, it sends no message.
func (r *Ref) Snapshot() stats.Child {
	now := r.inbox.nanos()
	r.mu.Lock()
	f := r.face
	restartsHour := f.hour.Count(r.sup.opt.Clock.Now())
	r.mu.Unlock()
	c := stats.Child{
		RestartsHour: restartsHour, LastSlow: f.slow,
		Name: r.spec.Name, Path: r.path, PID: f.id, State: f.state, Since: f.since,
		Incarnation: f.incarnation, Restarts: f.restarts, Abandoned: f.left, Deaths: f.deaths,
		Mailbox: r.inbox.depth(), Received: r.received + r.inbox.received(),
		Sent: r.stats.Sent.Load(), Failed: r.stats.Failed.Load(), Lost: r.stats.Lost.Total(),
		DeadLetters: r.stats.Lost.ByName(), Unhandled: r.stats.Lost.Count(stats.LossUnhandled),
		Slow: r.stats.Slow.Load(), Stuck: r.stats.Stuck.Load(), Note: r.stats.Note(),
		Handling: r.stats.Handling.Spread(), Waiting: r.stats.Waiting.Spread(),
	}
	if at := r.inbox.oldest(); at != 0 {
		c.OldestMS = millis(now - at)
	}
	if name, since := r.stats.InHand(); name != "" {
		c.InHand, c.InHandMS = name, millis(now-since)
	}
	c.Quarantined, c.Quarantine = r.inbox.quarantine.list()
	if n := len(f.deaths); n > 0 {
		c.LastDeath = &f.deaths[n-1]
	}
	busy := r.stats.Busy(now)
	c.BusyMS = millis(busy)
	c.Busy = share(f.samples[0], sample{now, busy, c.Received})
	c.Rate = rate(f.samples[0], sample{now, busy, c.Received})
	if t := r.tree.Load(); t != nil {
		c.Children = t.Snapshot()
	}
	return c
}

func millis(ns int64) int64 { return max(ns, 0) / int64(time.Millisecond) }

func share(from, to sample) float64 {
	if to.at <= from.at {
		return 0
	}
	return min(max(float64(to.busy-from.busy)/float64(to.at-from.at), 0), 1)
}

// rate is the number of received messages per second; a child younger than a second counts as a second old. While an
// abandoned actor returns its messages, the number may seem to shrink.
func rate(from, to sample) float64 {
	if to.at <= from.at || to.received < from.received {
		return 0
	}
	return float64(to.received-from.received) / time.Duration(max(to.at-from.at, int64(time.Second))).Seconds()
}
