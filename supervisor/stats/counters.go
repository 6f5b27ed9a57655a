package stats

import (
	"reflect"
	"sync/atomic"
)

// Counters are the counters of one actor. The goroutine that handles the actor's messages writes every field (other
// goroutines write Lost, Slow and Stuck), and any goroutine may read them.
type Counters struct {
	Sent   atomic.Uint64
	Failed atomic.Uint64
	Lost   Losses
	Slow   atomic.Uint64 // handlers that the watchdog has reported
	Stuck  atomic.Int64  // running goroutines of abandoned incarnations

	Handling Histogram // time in the handler
	Waiting  Histogram // time in the mailbox

	busyNS atomic.Int64
	since  atomic.Int64 // start of the running handler, 0 if none runs
	inHand atomic.Value // reflect.Type of the last message
	note   atomic.Pointer[string]
}

// Begin says that a handler starts at now (never 0) with a message of type t. A nil t is the type of the last message.
func (c *Counters) Begin(now int64, t reflect.Type) {
	if t != nil {
		c.inHand.Store(t)
	}
	c.since.Store(now)
}

// End adds the time of the handler that began at start and ends at now.
func (c *Counters) End(start, now int64) { c.busyNS.Add(now - start) }

// Idle says that the handler that began at start has ended, and that no other one runs. A handler that began later
// belongs to the next incarnation and stays.
func (c *Counters) Idle(start int64) { c.since.CompareAndSwap(start, 0) }

// Leave ends the time of a handler that is left behind at now.
func (c *Counters) Leave(now int64) {
	if since := c.since.Swap(0); since != 0 {
		c.busyNS.Add(max(now-since, 0))
	}
}

// SetNote sets the text that Note returns.
func (c *Counters) SetNote(text string) { c.note.Store(&text) }

// Note is the last text that the actor has set.
func (c *Counters) Note() string {
	if p := c.note.Load(); p != nil {
		return *p
	}
	return ""
}

// InHand is the type of the message being handled, and the start of its handler, or "" and 0.
func (c *Counters) InHand() (name string, since int64) {
	since = c.since.Load()
	t, ok := c.inHand.Load().(reflect.Type)
	if since == 0 || !ok {
		return "", 0
	}
	return t.String(), since
}

// Busy is the time spent in handlers up to now, including the running one.
func (c *Counters) Busy(now int64) int64 {
	total := c.busyNS.Load()
	if since := c.since.Load(); since != 0 && now > since {
		total += now - since
	}
	return total
}
