package minion

import (
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/minion/link"
	"brine/wire/payload"
)

// TestReturnsWithClockAhead: a minion that is started with a clock a year ahead drops no return for its age, nor does
// one whose clock is set while it runs; when the clock is right again the master gets them all.
func TestReturnsWithClockAhead(t *testing.T) {
	r := newRig(t, "return_spool_max_age: 86400\n")
	elapsed := time.Duration(0)
	r.opt.elapsed = func() time.Duration { return elapsed }
	r.up()
	f := r.master()
	f.set(func() { f.down = true })
	const n = 5
	for i := range n {
		f.publish(jid(i), "t.echo", "x")
		r.awaitBegun(t, jid(i), 1)
	}
	r.awaitIdle(t)
	r.awaitSpool(t, n)
	r.clock.Advance(365 * 24 * time.Hour)
	r.m.links[0].Sender().Send(&link.MasterBack{})
	r.log.Await(t, "the clock of this machine was set")
	r.stop()

	var tries atomic.Int64
	f.answers("", func(*payload.Map) bool { tries.Add(1); return true })
	f.set(func() { f.down = false })
	r.again() // a year ahead from the start
	r.pass(t, "attempts", func() bool { return tries.Load() > 3*n }, time.Second)
	r.awaitSpool(t, n)
	r.stop()

	r.clock = actortest.NewClock()
	f.set(func() { f.answer = nil })
	r.again()
	for i := range n {
		f.awaitReturn(t, jid(i))
	}
	r.awaitSpool(t, 0)
}
