package minion

import (
	"testing"
	"time"

	"brine/actors/minion/link"
)

// TestWeekAway: a node that is offline for a week, and for the day until somebody looks after it, loses no return by
// default.
func TestWeekAway(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.echo", "x")
	r.awaitBegun(t, jid(1), 1)
	r.awaitIdle(t)
	r.awaitSpool(t, 1)
	for range 8 * 24 {
		r.clock.Advance(time.Hour)
	}
	r.m.links[0].Sender().Send(&link.MasterBack{})
	f.set(func() { f.down = false })
	r.until(t, "return", func() bool { return f.has(jid(1)) }, time.Second)
}
