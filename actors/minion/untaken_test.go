package minion

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// answers lets the master answer returns with v, without taking them, as long as choose says so.
func (f *fakeMaster) answers(v any, choose func(load *payload.Map) bool) {
	f.set(func() {
		f.answer = func(o *auth.Opened) (any, bool) {
			if o.Cmd == payload.CmdReturn && choose(o.Load) {
				return v, true
			}
			return nil, false
		}
	})
}

func always(*payload.Map) bool { return true }

// TestUntaken keeps returns that the master answers without taking them, however it puts that, and delivers each once
// when it takes them.
func TestUntaken(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer any
	}{
		{"failed", ""}, {"refused", false}, {"unknown", payload.NewMap(0)}, {"text", "bad load"}, {"true", true},
		{"cluster", payload.M("ret", false, "cluster_retry", true)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "").up()
			f := r.master()
			f.answers(tt.answer, always)
			const n = 100 // more than are held in memory
			for i := range n {
				f.publish(jid(i), "t.echo", int64(i))
			}
			for i := range n {
				r.awaitBegun(t, jid(i), 1)
				r.untakenOnce(t, jid(i))
			}
			r.awaitIdle(t)
			r.awaitSpool(t, n)
			if facts := r.outcome(jid(0)); !strings.Contains(facts.Str("error"), "did not take it") ||
				facts.Has("acked") || !facts.Has("spooled") {
				t.Errorf("the minion says %v", facts)
			}
			f.set(func() { f.answer = nil })
			for i := range n {
				r.until(t, "return", func() bool { return f.has(jid(i)) }, step)
				if got := f.awaitReturn(t, jid(i)).Value("return"); got != int64(i) {
					t.Errorf("return of job %d: %v", i, got)
				}
			}
			r.awaitSpool(t, 0)
			for i := range n {
				once(t, f, jid(i))
			}
		})
	}
}

// TestUntakenInClear: what anybody could have said acknowledges nothing.
func TestUntakenInClear(t *testing.T) {
	for name, answer := range map[string]any{"nil": nil, "text": "Some exception handling minion payload",
		"map": payload.M("enc", "clear", "load", payload.M("ret", false)), "empty": ""} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "").up()
			f := r.master()
			frame, err := payload.Marshal(answer)
			if err != nil {
				t.Fatal(err)
			}
			f.set(func() { f.clear = frame })
			f.publish(jid(1), "t.echo", "x")
			r.pass(t, "attempt", func() bool { return r.outcome(jid(1)).Value("attempts") != nil }, 0)
			r.awaitSpool(t, 1)
			f.set(func() { f.clear = nil })
			r.until(t, "return", func() bool { return f.has(jid(1)) }, step)
			r.awaitSpool(t, 0)
		})
	}
}

// TestUntakenAlone: a return that the master never takes holds up no other, is not sent in a tight loop, and goes when
// it is too old, which is said.
func TestUntakenAlone(t *testing.T) {
	r := newRig(t, "return_spool_max_age: 86400\n").up()
	f := r.master()
	var tries atomic.Int64
	f.answers("", func(load *payload.Map) bool {
		if load.Str("jid") != jid(0) {
			return false
		}
		tries.Add(1)
		return true
	})
	f.publish(jid(0), "t.echo", "poison")
	r.log.Await(t, "the master does not take a return")
	for i := 1; i < 60; i++ {
		r.run(jid(i), "t.echo", int64(i))
	}
	r.awaitSpool(t, 1)
	if n := tries.Load(); n != 1 {
		t.Errorf("%d attempts without a pause", n)
	}
	began := r.clock.Now()
	r.pass(t, "many attempts", func() bool { return tries.Load() >= 20 }, 2*time.Second)
	if passed := r.clock.Now().Sub(began); passed < 5*time.Minute {
		t.Errorf("20 attempts in %v", passed)
	}
	said := 0
	for _, l := range r.log.Lines() {
		if strings.HasPrefix(l, "WARN") && strings.Contains(l, "does not take a return") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("said %d times", said)
	}
	r.pass(t, "dropped return", func() bool {
		return r.outcome(jid(0)).Str("outcome") == string(ledger.Dropped)
	}, time.Minute)
	r.log.Await(t, "returns are dropped: the master did not take them")
	r.awaitSpool(t, 0)
}

// TestUntakenMost: the cap of the spool holds for what the master does not take, and only for that.
func TestUntakenMost(t *testing.T) {
	r := bulkRig(t)
	f := r.master()
	f.answers("", func(load *payload.Map) bool { return load.Str("return") != "" && len(load.Str("return")) >= 1600 })
	for i := range 2 { // one of them fits
		f.publish(jid(i), "t.bulk", int64(1600))
		r.awaitBegun(t, jid(i), 1)
	}
	r.awaitIdle(t)
	r.awaitOutcome(t, jid(0), ledger.Unkept)
	f.publish(jid(4), "t.echo", "x")
	if got := f.awaitReturn(t, jid(4)).Value("return"); got != "x" {
		t.Errorf("got %v", got)
	}
	f.set(func() { f.answer = nil })
	for i := range 2 {
		r.until(t, "return", func() bool { return f.has(jid(i)) }, step)
	}
	r.replaced(t, jid(0))
	r.whole(t, jid(1), 1600)
	r.awaitSpool(t, 0)
}

// TestUntakenSenderDies: what the master did not take outlives its ReturnSender, and the process.
func TestUntakenSenderDies(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.answers("", always)
	for i := range 5 {
		f.publish(jid(i), "t.echo", int64(i))
		r.untakenOnce(t, jid(i))
	}
	harm(t, r, "Master-master.test_4506/ReturnSender", supervisor.FaultPanic)
	next := newRig(t, "")
	copyJournal(t, r, next)
	next.up()
	f.set(func() { f.answer = nil })
	for i := range 5 {
		r.until(t, "return", func() bool { return f.has(jid(i)) }, step)
		next.master().awaitReturn(t, jid(i))
	}
	r.awaitSpool(t, 0)
	next.awaitSpool(t, 0)
}

// TestUntakenTooDeep: what no master can read is replaced by the reason before it is sent.
func TestUntakenTooDeep(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	for i, depth := range []int{510, 511, 512, 530, 600} {
		f.publish(jid(i), "t.deep", int64(depth))
		got := f.awaitReturn(t, jid(i)).Value("return")
		_, text := got.(string)
		if text != (depth > 511) {
			t.Errorf("%d lists deep: %.100s", depth, fmt.Sprint(got))
		}
	}
	r.awaitSpool(t, 0)
}

// untakenOnce waits until the master has answered the return of a job, and not taken it.
func (r *rig) untakenOnce(t *testing.T, jid string) {
	t.Helper()
	r.pass(t, "answer", func() bool { return strings.Contains(r.outcome(jid).Str("error"), "did not take it") }, 0)
}

// pass lets time pass quickly until ok.
func (r *rig) pass(t *testing.T, what string, ok func() bool, step time.Duration) {
	t.Helper()
	for limit := time.After(patience); !ok(); {
		select {
		case <-limit:
			t.Fatalf("no %s", what)
		case <-time.After(time.Millisecond):
			r.clock.Advance(step)
		}
	}
}
