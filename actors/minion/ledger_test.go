package minion

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// said is what the return of a job tells a brine master.
func said(t *testing.T, ret *payload.Map) *ledger.Minion {
	t.Helper()
	if !ret.Has(ledger.Field) {
		t.Fatalf("the return tells nothing: %v", ret)
	}
	m, err := ledger.UnpackMinion(ret.Bytes(ledger.Field))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestReturnTellsOfItsJob(t *testing.T) {
	r := newRig(t, "").up()
	m := said(t, r.run(jid(1), "t.echo", "x"))
	now := ledger.At(r.clock.Now())
	want := ledger.Minion{Received: now, Started: now, Ended: now, Made: now, Spooled: now, Attempts: 1,
		Outcome: ledger.Done, Now: now, Size: m.Size}
	if *m != want || m.Size < 100 {
		t.Errorf("got %+v\nwant %+v", *m, want)
	}
	r.awaitFacts(jid(1), func(f ledger.Minion) bool { return f.Acked != 0 })
}

// awaitFacts waits until what the minion knows of a job is as it should be.
func (r *rig) awaitFacts(id string, ok func(ledger.Minion) bool) {
	r.t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		f, _ := r.m.diary.Get(id)
		if ok(f) {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			r.t.Fatalf("of %s it knows %+v", id, f)
		}
	}
}

// TestNothingForSalt: a master that has not said it is brine gets a return as Salt's minions send it, and no more.
func TestNothingForSalt(t *testing.T) {
	r := newRig(t, "")
	r.opt.takeForSalt = true
	r.up()
	if ret := r.run(jid(1), "t.echo", "x"); ret.Has(ledger.Field) {
		t.Errorf("got %v", ret)
	}
	f := r.master()
	f.publish(jid(2), "t.block")
	r.awaitBegun(t, jid(2), 1)
	r.clock.Advance(shownAfter)
	r.clock.Advance(toldAfter)
	r.fun.release()
	if ret := f.awaitReturn(t, jid(2)); ret.Has(ledger.Field) {
		t.Errorf("got %v", ret)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.requests {
		if q.Str("cmd") == payload.CmdBrineFacts {
			t.Errorf("got %v", q)
		}
	}
}

func TestOutcomesTold(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	for i, tt := range []struct {
		fun  string
		do   func(jid string)
		want ledger.Outcome
	}{
		{"t.panic", nil, ledger.Done}, // an exception of the function is its result
		{"t.odd", nil, ledger.Unpackable},
		{"t.block", func(jid string) { r.m.host().Signal(jid, 9) }, ledger.Killed},
		{"t.block", func(jid string) { r.crash("Jobs/Job-" + jid) }, ledger.Panicked},
	} {
		t.Run(fmt.Sprint(tt.fun, i), func(t *testing.T) {
			id := jid(10 + i)
			f.publish(id, tt.fun)
			r.awaitBegun(t, id, 1)
			if tt.do != nil {
				tt.do(id)
			}
			if m := said(t, f.awaitReturn(t, id)); m.Outcome != tt.want || m.Started == 0 || m.Made == 0 {
				t.Errorf("got %+v, want %s", m, tt.want)
			}
		})
	}
}

func (m *Minion) host() host { return host{m, m.links[0]} }

func (r *rig) crash(path string) {
	r.t.Helper()
	if err := r.m.top.Inject(path, "panic"); err != nil {
		r.t.Fatal(err)
	}
}

// TestJobFacts: what a master is told that asks.
func TestJobFacts(t *testing.T) {
	r := newRig(t, "process_count_max: 1\njob_queue_max: 1\n").up()
	f := r.master()
	ask := func(id string) *ledger.Minion { return ledger.ReadMinion(r.m.JobFacts(id)) }
	f.publish(jid(1), "t.block")
	r.awaitBegun(t, jid(1), 1)
	f.publish(jid(2), "t.echo", "x")
	r.awaitFacts(jid(2), func(m ledger.Minion) bool { return m.Queued != 0 && m.Behind == 1 })
	f.publish(jid(3), "t.echo", "x")
	if m := said(t, f.awaitReturn(t, jid(3))); m.Outcome != ledger.QueueFull {
		t.Errorf("got %+v", m)
	}
	other := load(jid(4), "t.echo", "x").Set("tgt", "web*")
	f.send(f.sealed(other))
	r.awaitFacts(jid(4), func(m ledger.Minion) bool {
		return m.Outcome == ledger.NotMatched && m.Detail == "web* (glob)"
	})
	f.send(f.sealed(payload.M("tgt", "*", "jid", jid(5), "fun", "t.echo")))
	r.awaitFacts(jid(5), func(m ledger.Minion) bool { return m.Outcome == ledger.Malformed && m.Detail == "no arg" })
	if m := ask(jid(1)); m.Started == 0 || m.Made != 0 || m.Now == 0 {
		t.Errorf("running: %+v", m)
	}
	if m := ask("20200101000000000000"); m.Outcome != ledger.Unknown {
		t.Errorf("unknown: %+v", m)
	}
	again := f.sealed(load(jid(6), "t.echo", "x"))
	f.send(again, again)
	r.awaitFacts(jid(6), func(m ledger.Minion) bool { return m.Queued != 0 || m.Made != 0 })
	r.awaitRefusal()
	if list := r.m.JobFacts("20200101000000000000").List(ledger.FieldRefused); len(list) != 1 {
		t.Errorf("refused: %v", list)
	}
}

// awaitRefusal waits until a publication was refused.
func (r *rig) awaitRefusal() {
	r.t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for len(r.m.diary.Refusals()) == 0 {
		select {
		case <-tick.C:
		case <-limit:
			r.t.Fatal("no publication was refused")
		}
	}
}

// TestTeller: a master is told of a job that takes half a second, once it has begun and while it waits.
func TestTeller(t *testing.T) {
	r := newRig(t, "process_count_max: 1\n").up()
	f := r.master()
	f.publish(jid(1), "t.block")
	r.awaitBegun(t, jid(1), 1)
	f.publish(jid(2), "t.block")
	r.awaitFacts(jid(2), func(m ledger.Minion) bool { return m.Queued != 0 })
	told := map[string]*ledger.Minion{}
	f.mu.Lock()
	f.requests = nil
	f.mu.Unlock()
	limit := time.After(patience)
	for len(told) < 2 {
		r.clock.Advance(shownAfter)
		f.toldOf(told)
		select {
		case <-limit:
			t.Fatalf("told of %v", told)
		case <-time.After(time.Millisecond):
		}
	}
	if m := told[jid(1)]; m.Started == 0 || m.Made != 0 {
		t.Errorf("running: %+v", m)
	}
	if m := told[jid(2)]; m.Queued == 0 || m.Behind != 1 || m.Started != 0 {
		t.Errorf("queued: %+v", m)
	}
}

// TestFactsOutliveTheProcess: what was known of a job is told by the next process, with the return that it had made, or
// makes for it.
func TestFactsOutliveTheProcess(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.echo", "x")
	r.awaitFacts(jid(1), func(m ledger.Minion) bool { return m.Spooled != 0 })
	before, _ := r.m.diary.Get(jid(1))
	r.stop()
	f.set(func() { f.down = false })
	r.clock.Advance(time.Hour)
	r.fun = newFunctions()
	r.opt = r.options()
	r.start()
	m := said(t, f.awaitReturn(t, jid(1)))
	if m.Received != before.Received || m.Made != before.Made || m.Outcome != ledger.Done || m.Spooled == 0 ||
		m.Now <= before.Made {
		t.Errorf("got %+v, it was %+v", m, before)
	}
}

// TestReturnTooLarge: a return that no master takes is replaced by the reason.
func TestReturnTooLarge(t *testing.T) {
	r := newRig(t, "")
	r.opt.mostReturn = 2000
	r.up()
	ret := r.run(jid(1), "t.echo", strings.Repeat("x", 3000))
	if m := said(t, ret); m.Outcome != ledger.TooBig || !strings.Contains(ret.Str("return"),
		"too large to be sent: ") || ret.Value("success") != false {
		t.Errorf("got %v", ret)
	}
	if ret := r.run(jid(2), "t.echo", "x"); ret.Value("return") != "x" {
		t.Errorf("got %v", ret)
	}
}
