package minion

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/minion/journal"
	"brine/actors/minion/returns"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
)

// mortal lets the ReturnSender die of the returns of some jobs, before it has looked at them or after that.
type mortal struct {
	deaths atomic.Int64 // still to come
	late   bool
	poison func(m *returns.Send) bool
}

func (d *mortal) around(name string, inner supervisor.Actor) supervisor.Actor {
	if name != "ReturnSender" {
		return inner
	}
	return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
		m, ok := ctx.Message().(*returns.Send)
		if !ok || !d.poison(m) || d.deaths.Add(-1) < 0 {
			inner.Receive(ctx)
			return
		}
		if d.late {
			inner.Receive(ctx)
		}
		panic("poisoned")
	})
}

// mortalRig is a minion whose ReturnSender dies so many times of the return of the first job.
func mortalRig(t *testing.T, deaths int64, late bool) *rig {
	d := &mortal{late: late, poison: func(m *returns.Send) bool { return m.JID == jid(1) && !m.Reason }}
	d.deaths.Store(deaths)
	r := newRig(t, "")
	r.opt.around = d.around
	return r
}

// asideReturn fails unless a job was answered once, with the reason why what it returned is not there.
func (r *rig) asideReturn(t *testing.T, jid string) {
	t.Helper()
	ret := r.reason(t, jid, "The return of the job is lost: the minion's ReturnSender died of it twice")
	if facts := said(t, ret); facts.Outcome != ledger.ReturnAside || !strings.Contains(facts.Detail, "poisoned") ||
		facts.Ended == 0 || facts.Spooled == 0 {
		t.Errorf("facts of %s: %+v", jid, facts)
	}
}

// TestReturnAside answers a job at once whose return the ReturnSender died of twice, and delivers the others.
func TestReturnAside(t *testing.T) {
	r := mortalRig(t, 1<<40, false).up()
	f := r.master()
	for i := range 3 {
		f.publish(jid(i), "t.echo", "x")
	}
	for i := range 3 {
		r.until(t, "return", func() bool { return f.has(jid(i)) }, step)
	}
	r.asideReturn(t, jid(1))
	r.awaitIdle(t) // nobody waits for the return any more
	r.run(jid(4), "t.echo", "x")
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	for _, i := range []int{0, 2, 4} {
		once(t, f, jid(i))
	}
	if got := r.fun.count(jid(1)); got != 1 {
		t.Errorf("it ran %d times", got)
	}
	r.stop()
	r.again()
	actortest.Wait(t, "ready minion", r.ready)
	r.run(jid(5), "t.echo", "x")
	r.awaitSpool(t, 0)
	once(t, f, jid(1))
}

// TestReturnAsideOnce delivers a return that the ReturnSender died of once.
func TestReturnAsideOnce(t *testing.T) {
	for _, late := range []bool{false, true} {
		r := mortalRig(t, 1, late).up()
		if got := r.run(jid(1), "t.echo", "x").Value("return"); got != "x" {
			t.Errorf("late %v: got %v", late, got)
		}
		r.awaitIdle(t)
		r.awaitSpool(t, 0)
	}
}

// TestReturnAsideOnDisk delivers the return itself where the ReturnSender has put it on disk before it died.
func TestReturnAsideOnDisk(t *testing.T) {
	r := mortalRig(t, 1<<40, true).up()
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.echo", "x")
	r.awaitBegun(t, jid(1), 1)
	r.until(t, "end of the job", func() bool { return len(r.m.host().Running()) == 0 }, step)
	next := newRig(t, "") // what the next process would find
	copyJournal(t, r, next)
	next.up()
	if got := next.master().awaitReturn(t, jid(1)).Value("return"); got != "x" {
		t.Errorf("on disk is %v", got)
	}
	f.set(func() { f.down = false })
	r.until(t, "return", func() bool { return f.has(jid(1)) }, step)
	if ret := f.awaitReturn(t, jid(1)); ret.Value("return") != "x" || said(t, ret).Outcome != ledger.Done {
		t.Errorf("got %v", ret)
	}
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ret := range f.returns[jid(1)] { // it may come again, but nothing else
		if ret.Value("return") != "x" {
			t.Errorf("got %v as well", ret)
		}
	}
}

// TestReturnAsideFullDisk says the reason also where nothing can be put on disk.
func TestReturnAsideFullDisk(t *testing.T) {
	r := mortalRig(t, 1<<40, false)
	if err := os.MkdirAll(filepath.Join(r.cfg.CacheDir, "jobs.journal"), 0o700); err != nil {
		// where the file should be
		t.Fatal(err)
	}
	r.up()
	f := r.master()
	f.publish(jid(1), "t.echo", "x")
	r.until(t, "return", func() bool { return f.has(jid(1)) }, step)
	if text := f.awaitReturn(t, jid(1)).Str("return"); !strings.Contains(text, "died of it twice") {
		t.Errorf("got %q", text)
	}
	r.awaitIdle(t)
	once(t, f, jid(1))
}

// TestReturnAsideKilled kills a minion, whose master is away, after it has set a return aside: the next one answers,
// once.
func TestReturnAsideKilled(t *testing.T) {
	r := mortalRig(t, 1<<40, false).up()
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.echo", "x")
	r.awaitBegun(t, jid(1), 1)
	r.until(t, "end of the job", func() bool { return len(r.m.host().Running()) == 0 }, step)
	r.awaitSpool(t, 1)
	next := newRig(t, "")
	copyJournal(t, r, next)
	next.up()
	next.asideReturn(t, jid(1))
	next.awaitSpool(t, 0)
	f.set(func() { f.down = false })
	r.until(t, "return", func() bool { return f.has(jid(1)) }, step)
	r.asideReturn(t, jid(1))
}

// TestReturnAsideHangs gives up a return that the ReturnSender hangs in, too.
func TestReturnAsideHangs(t *testing.T) {
	r := newRig(t, "")
	r.cfg.WorkerTimeout = time.Minute
	made, reached, over := make(chan struct{}, 10), make(chan struct{}, 10), make(chan struct{})
	t.Cleanup(func() { close(over) })
	r.opt.around = func(name string, inner supervisor.Actor) supervisor.Actor {
		if name != "ReturnSender" {
			return inner
		}
		made <- struct{}{}
		return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
			if m, ok := ctx.Message().(*returns.Send); ok && !m.Reason {
				reached <- struct{}{}
				<-over
				return
			}
			inner.Receive(ctx)
		})
	}
	r.up()
	actortest.Wait(t, "ReturnSender", made)
	f := r.master()
	f.publish(jid(1), "t.echo", "x")
	for range 2 {
		actortest.Wait(t, "hanging handler", reached)
		r.until(t, "next ReturnSender", func() bool { // all others are idle
			if len(made) == 0 {
				r.clock.Advance(20 * time.Second)
				return false
			}
			<-made
			return true
		}, step)
	}
	if text := f.awaitReturn(t, jid(1)).Str("return"); !strings.Contains(text, "died of it twice") ||
		!strings.Contains(text, supervisor.ErrAbandoned.Error()) {
		t.Errorf("got %q", text)
	}
	once(t, f, jid(1))
}

// TestReturnNotedKills ends a job whose return is on disk when the ReturnSender dies of hearing that.
func TestReturnNotedKills(t *testing.T) {
	r := newRig(t, "")
	var died atomic.Bool
	r.opt.around = func(_ string, inner supervisor.Actor) supervisor.Actor {
		return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
			if fmt.Sprintf("%T", ctx.Message()) == "*returns.noted" && !died.Swap(true) {
				panic("poisoned")
			}
			inner.Receive(ctx)
		})
	}
	r.up()
	if got := r.run(jid(1), "t.echo", "x").Value("return"); got != "x" {
		t.Errorf("got %v", got)
	}
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	once(t, r.master(), jid(1))
}

// TestReasonLeavesReturn puts no reason in the place of a return, also of one that is still to be written.
func TestReasonLeavesReturn(t *testing.T) {
	r := newRig(t, "").up()
	record := journal.Record{Kind: journal.Returned, Key: jid(1), Link: "other.test_4506"}
	r.m.journal.Send(&journal.Write{Record: record})
	asker := actortest.NewProbe()
	ref := actortest.Add(t, r.m.top, supervisor.Spec{Name: "Asker", New: asker.New})
	for _, key := range []string{jid(1), jid(2)} {
		record.Key = key
		r.m.journal.Send(&journal.WriteReason{Record: record, Asker: ref, Note: &decision{}})
	}
	put := func() bool {
		note, ok := actortest.Wait(t, "answer", asker.Got()).(*decision)
		return ok && note.put
	}
	if first, second := put(), put(); first || !second {
		t.Errorf("put: %v where a return was, %v where there was none", first, second)
	}
}

// decision is what the Journal says of a reason.
type decision struct{ put bool }

func (*decision) Decided(put bool, _ error) any { return &decision{put} }
