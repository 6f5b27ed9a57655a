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
	// the longest time between two looks at the memory; shorter if a peer could fill the memory in that time
	guardCalm = 500 * time.Millisecond
	guardRest = time.Second           // after connections were ended, before one of a known peer may be ended
	guardLag  = 20 * time.Millisecond // after connections were ended, until their memory is free
	// intake is about how many bytes libzmq's thread can read in a second.
	intake = 2 << 30
	// alertTimes is how many times more often the guard looks while the memory is above half of its limit.
	alertTimes = 10

	// connectionBytes is about how much memory libzmq takes for an idle connection. The number of connections has a
	// limit of its own (MaxPeers).
	connectionBytes = 32 << 10
	// trimShare limits the time for returning memory to the kernel: one part in trimShare.
	trimShare = 20
	// hurry is a divisor of the limit. If the memory exceeds the limit by more than one part in hurry, connections end
	// before memory is returned to the kernel, which takes time.
	hurry = 4

	// A connection can be ended when it holds at least this many bytes. An unknown peer has no reason to hold any. For
	// a known peer the sum includes heartbeats and messages under way.
	strangerHolds = 4 << 10
	knownHolds    = 256 << 10
	// endedAtOnce is how many connections the guard ends before it looks at the memory again. Among them it skips
	// connections that hold less than one part in smallPart of the largest. A frame of two bytes takes 64 bytes of
	// memory or more, so the bytes counted for the ended connections do not tell how much memory becomes free.
	endedAtOnce = 64
	smallPart   = 16
)

// Guard limits the memory that libzmq holds for peers of the servers that name the Guard in their options: messages
// whose last part has not arrived, and messages that a peer does not read. ZMQ_MAXMSGSIZE limits a frame, and
// high-water marks limit the whole messages of one connection, but nothing limits the sum. The Guard looks at the
// memory of the process that belongs neither to files nor to Go. If it is too much, the network address that holds the
// most loses its largest connection, and so on. Connections of known peers come last. See decision 0018.
type Guard struct {
	opt GuardOptions

	mu      sync.Mutex
	tallies map[*tally]bool
	stop    chan struct{} // ends the looks; nil while there is no server to watch
	done    chan struct{}

	ended, endedKnown atomic.Uint64
}

// GuardOptions are the options of a Guard.
type GuardOptions struct {
	MaxBytes int64        // memory of libzmq, not counting its idle connections
	Logger   *slog.Logger // nil: silent

	// OnEnded is called for each connection that was ended. It must not block; may be nil.
	OnEnded func(Ended)

	memory func() (int64, error) // for tests
}

// Ended is a connection that a Guard ended.
type Ended struct {
	Peer  string // host:port
	Known bool   // the peer had identified itself by its messages
	Bytes int64  // received of unfinished messages, or waiting for the peer to read them
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

// Stats reads the counters; any goroutine may call it.
func (g *Guard) Stats() GuardStats { return GuardStats{g.ended.Load(), g.endedKnown.Load()} }

// tally makes the tally of a server; nil without a Guard.
func (g *Guard) tally(publishes bool) *tally {
	if g == nil || g.opt.MaxBytes <= 0 {
		return nil
	}
	return newTally(publishes)
}

// watch adds a server. The guard watches it until leave is called, which waits for a running look to end.
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

// calm is the time between two looks while memory is not short.
func (g *Guard) calm() time.Duration {
	if g.opt.MaxBytes >= intake/2 {
		return guardCalm
	}
	return max(guardCalm/50, time.Duration(g.opt.MaxBytes)*time.Second/intake)
}

// look is the state of a Guard between two looks at the memory.
type look struct {
	guard  *Guard
	memory func() (int64, error)
	trim   func()
	rested time.Time // when memory may be returned to the kernel again
	ended  time.Time // when a connection was last ended,
	owed   int64     // and how many bytes the ended connections hold until libzmq has noticed their end
	failed bool      // the memory could not be read, and the log says so
}

// take looks once and ends connections that hold too much. It returns the time until the next look.
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

// end ends connections that together hold over bytes.
func (l *look) end(now time.Time, over int64) {
	for _, h := range choose(l.guard.holdings(), over, now.Sub(l.ended) >= guardRest) {
		if h.end() {
			l.ended, l.owed = now, l.owed+h.bytes
			l.guard.tell(h)
		}
	}
}

// over returns by how many bytes the memory exceeds its limit.
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

// holding is the amount of memory that libzmq holds for a connection.
type holding struct {
	*account
	known bool
	bytes int64
}

// choose selects the connections to end so that over bytes become free. It takes unknown peers first: from the address
// that holds the most, its largest connection, as often as necessary. If no unknown peer is left, it takes one known
// peer, but only if quiet says that earlier ended connections had time to free their memory.
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
			delete(byHost, who) // this address holds nothing more that counts
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
