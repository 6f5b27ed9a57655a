package actortest

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen; it only passes when the test fails.
const patience = time.Minute

// Clock is a supervisor.Clock that stands still until a test moves it.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	timers  []*timer // by time, then by age
	changed chan struct{}
}

type timer struct {
	at time.Time
	f  func()
}

// NewClock makes a clock that shows a fixed moment.
func NewClock() *Clock {
	return &Clock{now: time.Date(2024, 5, 17, 12, 0, 0, 0, time.UTC), changed: make(chan struct{})}
}

// Now is the time the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc calls f in the goroutine of the Advance that reaches its time. Unlike time.AfterFunc a timer
// of no duration waits for an Advance too.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.now.Add(d), f: f}
	i := slices.IndexFunc(c.timers, func(o *timer) bool { return o.at.After(t.at) })
	if i < 0 {
		i = len(c.timers)
	}
	c.timers = slices.Insert(c.timers, i, t)
	c.tell()
	return func() bool { return c.remove(t) }
}

func (c *Clock) remove(t *timer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.timers, t)
	if i < 0 {
		return false
	}
	c.timers = slices.Delete(c.timers, i, i+1)
	c.tell()
	return true
}

func (c *Clock) tell() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Advance moves the clock and calls what becomes due, in order, each at its time.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for len(c.timers) > 0 && !c.timers[0].at.After(end) {
		t := c.timers[0]
		c.timers = c.timers[1:]
		c.now = t.at
		c.tell()
		c.mu.Unlock()
		t.f()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

// Timers are the delays of the timers that wait, soonest first.
func (c *Clock) Timers() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	delays := make([]time.Duration, len(c.timers))
	for i, t := range c.timers {
		delays[i] = t.at.Sub(c.now)
	}
	return delays
}

// WaitTimer waits until some timer has d left.
func (c *Clock) WaitTimer(t testing.TB, d time.Duration) {
	t.Helper()
	limit := time.After(patience)
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if slices.Contains(c.Timers(), d) {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("no timer of %s: got %v", d, c.Timers())
		}
	}
}
