package minion

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"
)

// bounds are the limits of what may wait in a minion (docs/decisions/0029).
type bounds struct {
	publications     int   // that come, and that the Dispatcher has not looked at
	publicationBytes int64 // of those that the Subscriber has not looked at
	held             int   // publications that wait for a sign-in
	heldBytes        int
	events           int   // of local tools and functions, for the bus
	eventBytes       int64 // of those
	requests         int   // for others, to one master
	refreshes        int   // who wait for grains, or for the pillar of one master
	actors           int   // of jobs that process_count_max does not count
	queueBytes       int   // of publications in the job queue
	returns          int   // that one master has not acknowledged
}

func defaultBounds() bounds {
	return bounds{publications: 1000, publicationBytes: 64 << 20, held: 1000, heldBytes: 64 << 20, events: 500,
		eventBytes: 32 << 20, requests: 1000, refreshes: 1000, actors: 1000, queueBytes: 256 << 20, returns: 50_000}
}

// bound counts what waits somewhere, by number and bytes. A mailbox refuses nothing; who fills it asks here first. Any
// number of goroutines may use it.
type bound struct {
	what      string // of which there is too much, for the log
	most      int64
	mostBytes int64       // 0: bytes do not count
	also      func() bool // room elsewhere that is needed, too; nil: none
	log       *slog.Logger

	n, bytes atomic.Int64
	full     atomic.Uint64 // how often somebody found it full
}

// boundLook is how often who waits for room looks.
const boundLook = 2 * time.Millisecond

func (b *bound) enter(bytes int) *ticket {
	b.n.Add(1)
	b.bytes.Add(int64(bytes))
	return &ticket{b: b, bytes: int64(bytes)}
}

// ticket is the place of one that has entered.
type ticket struct {
	b     *bound
	bytes int64
	left  atomic.Bool
}

// leave gives the place back, once however often it is called. A nil ticket is of one that is not counted.
func (t *ticket) leave() {
	if t != nil && !t.left.Swap(true) {
		t.b.n.Add(-1)
		t.b.bytes.Add(-t.bytes)
	}
}

func (b *bound) has() bool {
	return b.n.Load() < b.most && (b.mostBytes <= 0 || b.bytes.Load() < b.mostBytes) && (b.also == nil || b.also())
}

// tell says that there was no room, the 1st, 2nd, 4th, 8th ... time.
func (b *bound) tell(text string) {
	if n := b.full.Add(1); n&(n-1) == 0 {
		b.log.Warn(text, "what", b.what, "waiting", b.n.Load(), "bytes", b.bytes.Load(), "times", n)
	}
}

// Texts of the log.
const (
	textWaits   = "too much waits: who sends more has to wait, too"
	textRefused = "too much waits: more is refused"
)

// wait waits until there is room; false when ctx has ended first.
func (b *bound) wait(ctx context.Context) bool {
	if b.has() {
		return true
	}
	b.tell(textWaits)
	look := time.NewTicker(boundLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if b.has() {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

// errTooMuch is the reason why something was refused.
var errTooMuch = errors.New("refused: too much waits already")

// post hands a request of somebody else to the ReturnSender. Its Done is told at once when too many are under way.
func (l *link) post(m *SendRequest) {
	if !l.asking.has() {
		l.asking.tell(textRefused)
		m.Lost(errTooMuch)
		return
	}
	m.place = l.asking.enter(0)
	l.sender.Send(m)
}

// eventPatience is how long a function waits until its event has a place on the bus.
const eventPatience = 2 * time.Second

// busBounds is the room of the bus. A local tool that fires too many events waits: its socket is not read. What it asks
// of masters counts, too.
func (m *Minion) busBound() *bound {
	asked := func() bool {
		return !slices.ContainsFunc(m.links, func(l *link) bool { return l.asking.n.Load() >= l.asking.most/2 })
	}
	return &bound{what: "events for the bus", most: int64(m.bounds.events), mostBytes: m.bounds.eventBytes, also: asked,
		log: m.log}
}

// boundsOf makes the rooms of a connection.
func (m *Minion) boundsOf(l *link) {
	l.asking = &bound{what: "requests of tools and jobs to the master", most: int64(m.bounds.requests), log: l.log}
	heeded := func() bool {
		// a master that is away, or takes no returns, is not waited for: the oldest returns are dropped
		return m.dispatcher.Depth() < m.bounds.publications && l.gauges.returns.Load() < 2*int64(m.bounds.returns)
	}
	l.coming = &bound{what: "publications", most: int64(m.bounds.publications), mostBytes: m.bounds.publicationBytes,
		also: heeded, log: l.log}
}
