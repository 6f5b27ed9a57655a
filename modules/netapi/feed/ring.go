package feed

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// Why a stream ends.
var (
	// ErrSlow means that the reader was so far behind that its next event is not kept any more.
	ErrSlow = errors.New("feed: reader too slow")
	// ErrStopped means that salt-api stops.
	ErrStopped = errors.New("feed: stopped")
	// ErrFull means that there are as many readers as there may be, in all or from one address.
	ErrFull = errors.New("feed: too many readers")
	// ErrNoBus means that the event bus of the master cannot be listened to.
	ErrNoBus = errors.New("feed: event bus not reachable")
)

// Limits bound what the ring keeps, and for how many. The zero value of each means the default.
type Limits struct {
	Events  int           // kept at most, 16384
	Bytes   int           // of them, 32 MiB
	Age     time.Duration // an event is kept for so long, 30 s
	Readers int           // at once, 4096
	Each    int           // of them from one address, 2500
}

func (l Limits) filled() Limits {
	for _, n := range []struct {
		at       *int
		fallback int
	}{{&l.Events, 16384}, {&l.Bytes, 32 << 20}, {&l.Readers, 4096}, {&l.Each, 2500}} {
		if *n.at <= 0 {
			*n.at = n.fallback
		}
	}
	if l.Age <= 0 {
		l.Age = 30 * time.Second
	}
	return l
}

// Ring keeps the last events for all readers. All its methods may be called from any goroutine.
type Ring struct {
	limits Limits

	mu     sync.Mutex
	events []*Event
	first  uint64 // number of the first of them
	bytes  int
	wake   chan struct{} // closed when readers are to look again
	up     bool          // the bus is there
	ended  error         // no more events come

	readers map[*Stream]bool
	from    map[string]int // readers by address
}

// NewRing makes an empty one.
func NewRing(limits Limits) *Ring {
	return &Ring{limits: limits.filled(), wake: make(chan struct{}), readers: map[*Stream]bool{},
		from: map[string]int{}}
}

// Add takes the body of an event in and drops the oldest beyond the limits. Nobody is woken. The body belongs to the
// ring.
func (r *Ring) Add(body []byte, now time.Time) {
	e := newEvent(body, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	r.bytes += e.size()
	drop := 0
	for len(r.events)-drop > 1 && (len(r.events)-drop > r.limits.Events || r.bytes > r.limits.Bytes) {
		r.bytes -= r.events[drop].size()
		drop++
	}
	r.drop(drop)
}

// drop lets the first n events go; their bytes are counted off already.
func (r *Ring) drop(n int) {
	clear(r.events[:n])
	r.events = r.events[n:]
	r.first += uint64(n)
}

// Expire drops what is too old, and wakes the readers: they look after their tokens.
func (r *Ring) Expire(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := 0
	for old < len(r.events) && now.Sub(r.events[old].came) > r.limits.Age {
		r.bytes -= r.events[old].size()
		old++
	}
	r.drop(old)
	if len(r.events) == 0 {
		r.events = nil // and with it the room of a flood
	}
	r.wakeAll()
}

func (r *Ring) wakeAll() {
	close(r.wake)
	r.wake = make(chan struct{})
}

// Rouse lets readers look for events.
func (r *Ring) Rouse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wakeAll()
}

// SetUp notes whether the bus is there.
func (r *Ring) SetUp(up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.up = up
	r.wakeAll()
}

// End is the end of all streams.
func (r *Ring) End(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = why
		r.wakeAll()
	}
}

// Admit gives a reader its place: behind the last event. from is the address under which it counts. Errors: ErrFull, or
// that of End.
func (r *Ring) Admit(from string) (*Stream, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil {
		return nil, r.ended
	}
	if len(r.readers) >= r.limits.Readers || r.from[from] >= r.limits.Each {
		return nil, ErrFull
	}
	s := &Stream{ring: r, from: from, next: r.first + uint64(len(r.events)), since: time.Now()}
	r.readers[s] = true
	r.from[from]++
	return s, nil
}

// leave takes a reader's place back.
func (r *Ring) leave(s *Stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.readers[s] {
		return
	}
	delete(r.readers, s)
	if r.from[s.from]--; r.from[s.from] == 0 {
		delete(r.from, s.from)
	}
}

// Count is the number of readers, and of the events that are kept.
func (r *Ring) Count() (readers, events int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.readers), len(r.events)
}

// read returns what stands at a place and behind it, up to most events in room, or what to wait for.
func (r *Ring) read(next uint64, room []*Event, most int) (got []*Event, wake <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := int(next - r.first)
	switch {
	case next < r.first:
		return nil, nil, ErrSlow
	case at < len(r.events):
		return append(room, r.events[at:min(at+most, len(r.events))]...), r.wake, nil
	}
	return nil, r.wake, r.ended
}

// Readers are those who read, oldest first.
func (r *Ring) Readers() []*Stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]*Stream, 0, len(r.readers))
	for s := range r.readers {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *Stream) int { return a.since.Compare(b.since) })
	return out
}
