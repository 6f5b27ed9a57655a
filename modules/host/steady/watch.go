// Package steady tells whether what is old by the clock of this machine may be removed for its age. A clock that is a
// year ahead makes everything too old at once, and all is gone when it is right again. Nothing here sets a clock or
// asks for the time elsewhere.
package steady

import (
	"sync"
	"time"
)

const (
	jumpMost = time.Minute // less than that is how clocks are corrected, and a machine that slept for a moment
	// Rest is for how long nothing is removed for its age: after the start, for nobody knows yet whether the clock is
	// right, and after a jump of the clock.
	Rest = time.Hour
)

// Watch watches whether the clock of the machine goes on as time does. One goroutine at a time may use it.
type Watch struct {
	wall    time.Time     // at the last look
	elapsed time.Duration // and the time since the start, which no clock can set
	jumped  time.Duration // when the last jump was seen
	seen    bool          // one was
}

// Look takes the time of the machine and that since the start; it returns how far the clock has jumped since the last
// look.
func (w *Watch) Look(wall time.Time, elapsed time.Duration) (jump time.Duration) {
	wall = wall.Round(0)
	if !w.wall.IsZero() {
		jump = wall.Sub(w.wall) - (elapsed - w.elapsed)
	}
	w.wall, w.elapsed = wall, elapsed
	if jump.Abs() <= jumpMost {
		return 0
	}
	w.jumped, w.seen = elapsed, true
	return jump
}

// Calm says that the process runs for a while, and that the clock has not jumped for as long.
func (w *Watch) Calm() bool {
	return w.elapsed >= Rest && (!w.seen || w.elapsed-w.jumped >= Rest)
}

// Clock is a Watch that looks for itself whenever it is asked. Any number of goroutines may use it.
type Clock struct {
	look func() (wall time.Time, elapsed time.Duration)
	tell func(jump time.Duration)

	mu    sync.Mutex
	watch Watch
}

// New makes a Clock of a process that begins now. look gives the time and that since the start; tell is called for each
// jump, in the goroutine of who has asked, and may be nil.
func New(look func() (time.Time, time.Duration), tell func(jump time.Duration)) *Clock {
	c := &Clock{look: look, tell: tell}
	c.Calm()
	return c
}

// Since is a look at the clock of the machine, for a process that began at a time from time.Now.
func Since(began time.Time) func() (time.Time, time.Duration) {
	return func() (time.Time, time.Duration) {
		now := time.Now()
		return now, now.Sub(began)
	}
}

// Calm says whether what is too old may be removed now.
func (c *Clock) Calm() bool {
	c.mu.Lock()
	jump := c.watch.Look(c.look())
	calm := c.watch.Calm()
	c.mu.Unlock()
	if jump != 0 && c.tell != nil {
		c.tell(jump)
	}
	return calm
}
