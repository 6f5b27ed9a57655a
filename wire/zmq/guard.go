package zmq

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// between two looks at the memory at most; less when a peer could fill it in that time
	guardCalm = 500 * time.Millisecond
	guardRest = time.Second           // after connections were ended, before one of a known peer is
	guardLag  = 20 * time.Millisecond // after connections were ended, until their memory is free
	// intake is how many bytes libzmq's thread takes in within a second at most, about.
	intake = 2 << 30
	// alertTimes is how many times more often the memory is looked at when it is over half of what it may be.
	alertTimes = 10

	// connectionBytes is what libzmq takes for a connection that holds nothing, about: the number of connections has a
	// bound of its own (MaxPeers).
	connectionBytes = 32 << 10
	// trimShare bounds the part of the time that goes into giving memory back: one in so many.
	trimShare = 20
	// hurry is a part of what the memory may be, one in so many. If it is over by more than that
	// connections end before memory is given back, which takes its time.
	hurry = 4

	// From so many bytes on a connection can be ended: of a stranger, who has nothing to keep libzmq waiting with, and
	// of a known peer, whose heartbeats are in the sum and whose messages are on the way.
	strangerHolds = 4 << 10
	knownHolds    = 256 << 10
	// endedAtOnce is how many connections are ended before the memory is looked at again, and smallPart leaves those
	// alone that hold less than one in so many of what the largest does: a frame of two bytes takes 64 of memory and
	// more, so that the bytes that are ended do not tell how much comes back.
	endedAtOnce = 64
	smallPart   = 16
)

// Guard bounds the memory that libzmq holds for peers of the servers that name it in their options: messages of which
// the last part has not come, and those that a peer does not take. ZMQ_MAXMSGSIZE bounds a frame, high-water marks
// bound whole messages of one connection; nothing bounds all of it. The memory of the process that is neither files'
// nor Go's is looked at; when it is too much, the network address that holds most loses its largest connection, and so
// on. Those of known peers come last. See decision 0018.
type Guard struct {
	opt GuardOptions

	mu      sync.Mutex
	tallies map[*tally]bool
	stop    chan struct{} // ends the looks; nil while there is nothing to look at
	done    chan struct{}

	ended, endedKnown atomic.Uint64
}

// GuardOptions are the options of a Guard.
type GuardOptions struct {
	MaxBytes int64        // memory of libzmq, beside what its idle connections take
	Logger   *slog.Logger // nil: silent

	// OnEnded is told of each connection that was ended. It must not block; may be nil.
	OnEnded func(Ended)

	memory func() (int64, error) // for tests
}

// Ended is a connection that a Guard has ended.
type Ended struct {
	Peer  string // host:port
	Known bool   // its messages had shown who it is
	Bytes int64  // that had come of unfinished messages, or waited to be taken
}

// NewGuard makes a Guard. It works while a server that names it is open.
func NewGuard(opt GuardOptions) *Guard {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	return &Guard{opt: opt, tallies: map[*tally]bool{}}
}

// GuardStats counts since the Guard was made.
type GuardStats struct {
	Ended      uint64 // connections, those of known peers included
	EndedKnown uint64
}

// Stats reads the counters; any goroutine may do so.
func (g *Guard) Stats() GuardStats { return GuardStats{g.ended.Load(), g.endedKnown.Load()} }

// tally makes the tally of a server; nil without a Guard.
func (g *Guard) tally(publishes bool) *tally {
	if g == nil || g.opt.MaxBytes <= 0 {
		return nil
	}
	return newTally(publishes)
}

// watch takes a server in. It is looked at until leave is called, which waits for a look to end.
func (g *Guard) watch(t *tally) (leave func()) {
	if t == nil {
		return func() {}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tallies[t] = true
	if g.stop == nil {
		g.stop, g.done = make(chan struct{}), make(chan struct{})
		go g.run(g.stop, g.done)
	}
	return func() {
		g.mu.Lock()
		delete(g.tallies, t)
		stop, done := g.stop, g.done
		last := len(g.tallies) == 0 && stop != nil
		if last {
			g.stop, g.done = nil, nil
		}
		g.mu.Unlock()
		if last {
			close(stop)
			<-done
		}
	}
}

// run looks at the memory until stop is closed.
func (g *Guard) run(stop, done chan struct{}) {
	defer close(done)
	memory := g.opt.memory
	if memory == nil {
		o, err := newGauge()
		if err != nil {
			g.opt.Logger.Error("the memory of libzmq cannot be guarded", "err", err)
			return
		}
		defer func() { _ = o.close() }()
		memory = o.bytes
	}
	next := time.NewTimer(g.calm())
	defer next.Stop()
	for l := (look{guard: g, memory: memory, trim: trimMalloc}); ; {
		select {
		case <-stop:
			return
		case <-next.C:
			next.Reset(l.take(time.Now()))
		}
	}
}

// calm is the time between two looks while there is no need.
func (g *Guard) calm() time.Duration {
	if g.opt.MaxBytes >= intake/2 {
		return guardCalm
	}
	return max(guardCalm/50, time.Duration(g.opt.MaxBytes)*time.Second/intake)
}

// look is what a Guard remembers from one look at the memory to the next.
type look struct {
	guard  *Guard
	memory func() (int64, error)
	trim   func()
	rested time.Time // when memory can be given back again
	ended  time.Time // when a connection was ended last,
	owed   int64     // and how many bytes those that were ended together hold until libzmq has noticed
	failed bool      // the memory could not be read, which was said
}

// take looks once and ends what is too much. It returns when to look again.
func (l *look) take(now time.Time) time.Duration {
	most, calm := l.guard.opt.MaxBytes, l.guard.calm()
	alert := calm / alertTimes
	if now.Sub(l.ended) > guardLag {
		l.owed = 0
	}
	over, ok := l.over()
	if !ok || over < -most/2 {
		return calm
	}
	if over > most/hurry {
		l.end(now, over)
	}
	if over > 0 && !now.Before(l.rested) {
		began := time.Now()
		l.trim()
		l.rested = now.Add(trimShare * time.Since(began))
		if over, _ = l.over(); over > 0 {
			l.end(now, over)
		}
	}
	return alert
}

// end ends what is too much.
func (l *look) end(now time.Time, over int64) {
	for _, h := range choose(l.guard.holdings(), over, now.Sub(l.ended) >= guardRest) {
		if h.end() {
			l.ended, l.owed = now, l.owed+h.bytes
			l.guard.tell(h)
		}
	}
}

// over is by how much the memory is more than it may be.
func (l *look) over() (int64, bool) {
	bytes, err := l.memory()
	if err != nil {
		if !l.failed {
			l.failed = true
			l.guard.opt.Logger.Error("the memory of libzmq cannot be guarded", "err", err)
		}
		return 0, false
	}
	return bytes - l.owed - l.guard.opt.MaxBytes - int64(l.guard.connections())*connectionBytes, true
}

func (g *Guard) connections() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for t := range g.tallies {
		n += t.size()
	}
	return n
}

func (g *Guard) holdings() (all []holding) {
	g.mu.Lock()
	tallies := slices.Collect(maps.Keys(g.tallies))
	g.mu.Unlock()
	for _, t := range tallies {
		all = append(all, t.holdings()...)
	}
	return all
}

func (g *Guard) tell(h holding) {
	g.ended.Add(1)
	if h.known {
		g.endedKnown.Add(1)
	}
	if g.opt.OnEnded != nil {
		g.opt.OnEnded(Ended{Peer: h.peer, Known: h.known, Bytes: h.bytes})
	}
}

// holding is how much libzmq holds of a connection.
type holding struct {
	*account
	known bool
	bytes int64
}

// choose says which connections are to be ended so that over bytes come back: of strangers, from the address that holds
// most, its largest, as often as need be. When no stranger is left it is one of a known peer, if quiet says that those
// that were ended before have had time to give back what they held.
func choose(all []holding, over int64, quiet bool) (out []holding) {
	strangers := slices.DeleteFunc(slices.Clone(all), func(h holding) bool {
		return h.known || h.bytes < strangerHolds
	})
	if len(strangers) > 0 {
		return chooseFrom(strangers, over, endedAtOnce)
	}
	if !quiet {
		return nil
	}
	known := slices.DeleteFunc(slices.Clone(all), func(h holding) bool { return !h.known || h.bytes < knownHolds })
	return chooseFrom(known, over, 1)
}

func chooseFrom(all []holding, over int64, most int) (out []holding) {
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b holding) int { return cmp.Compare(b.bytes, a.bytes) })
	least := all[0].bytes / smallPart
	byHost, sums := map[string][]holding{}, map[string]int64{}
	for _, h := range all {
		byHost[h.host] = append(byHost[h.host], h)
		sums[h.host] += h.bytes
	}
	for over > 0 && len(out) < most && len(byHost) > 0 {
		who := ""
		for host := range byHost {
			if who == "" || sums[host] > sums[who] {
				who = host
			}
		}
		h := byHost[who][0]
		if byHost[who] = byHost[who][1:]; len(byHost[who]) == 0 || h.bytes < least {
			delete(byHost, who) // nothing of account is left
		}
		if h.bytes < least {
			continue
		}
		sums[who] -= h.bytes
		over -= h.bytes
		out = append(out, h)
	}
	return out
}
