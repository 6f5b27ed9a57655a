package minion

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/wire/auth"
	"brine/wire/payload"
)

const year = 365 * 24 * time.Hour

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
	r.clock.Advance(year)
	r.m.links[0].sender.Send(&retrySpool{})
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

// TestPastJobsWithClocksAhead: when the clocks of master and minion are a year ahead for a while, jids that were taken
// before are refused all the same, then and later.
func TestPastJobsWithClocksAhead(t *testing.T) {
	const keep = 7 * 24 * time.Hour
	path, now := filepath.Join(t.TempDir(), "jobs.past"), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	calm := true
	open := func(now time.Time) *pastJobs {
		t.Helper()
		p, err := openPastJobs(path, keep, now, func() bool { return calm })
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	young := payload.NewJID(now)
	takes(t, open(now), young, auth.Mark{}, now)
	calm = false
	for range 3 {
		ahead := open(now.Add(year))
		if !ahead.has(young, auth.Mark{}) {
			t.Fatal("forgotten by a minion whose clock is a year ahead")
		}
		takes(t, ahead, payload.NewJID(now.Add(year)), auth.Mark{}, now.Add(year))
		ahead.size = -1 // it is written anew
		takes(t, ahead, payload.NewJID(now.Add(year+time.Second)), auth.Mark{}, now.Add(year))
	}
	calm = true
	if p := open(now); !p.has(young, auth.Mark{}) {
		t.Error("forgotten when the clock is right again")
	}
	if p := open(now.Add(year + keep/2)); p.has(young, auth.Mark{}) {
		t.Error("kept for ever")
	}
}
