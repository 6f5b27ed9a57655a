package minion

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// bulk is the size of a return that is larger than the spool of these tests.
const bulk = 5000

// whole fails unless a job returned so many bytes.
func (r *rig) whole(t *testing.T, jid string, size int) {
	t.Helper()
	if got := r.master().awaitReturn(t, jid).Str("return"); len(got) != size || strings.Trim(got, "x") != "" {
		t.Errorf("return of %s: %.200q", jid, got)
	}
}

// step is how fast time passes where a test waits for a retry.
const step = 500 * time.Millisecond

// bulkRig is a minion that keeps 3000 bytes of returns.
func bulkRig(t *testing.T) *rig { return newRig(t, "return_spool_max_bytes: 3000\n").up() }

// outcome is what the minion itself says of a job.
func (r *rig) outcome(jid string) *payload.Map { return r.m.JobFacts(jid) }

// awaitOutcome lets time pass until the minion says so of a job.
func (r *rig) awaitOutcome(t *testing.T, jid string, want ledger.Outcome) {
	t.Helper()
	r.until(t, fmt.Sprintf("outcome %s of %s", want, jid), func() bool {
		return r.outcome(jid).Str("outcome") == string(want)
	}, step)
}

// replaced fails unless a job has one return, which says why there is no other.
func (r *rig) replaced(t *testing.T, jid string) {
	t.Helper()
	ret := r.master().awaitReturn(t, jid)
	text := ret.Str("return")
	if !strings.HasPrefix(text, "The return is lost: the minion keeps at most 3000 bytes") ||
		ret.Value("retcode") != int64(1) || ret.Value("success") != false {
		t.Errorf("return of %s: %.200q, retcode %v, success %v", jid, text, ret.Value("retcode"), ret.Value("success"))
	}
	if facts, err := ledger.UnpackMinion(ret.Bytes(ledger.Field)); err != nil || facts.Outcome != ledger.Unkept ||
		!strings.Contains(facts.Detail, "return_spool_max_bytes is 3000") {
		t.Errorf("facts of %s: %+v, %v", jid, facts, err)
	}
	once(t, r.master(), jid)
}

// asLeft starts another minion on a copy of the files of this one, as a kill leaves them.
func (r *rig) asLeft(t *testing.T) *rig {
	t.Helper()
	next := newRig(t, "return_spool_max_bytes: 3000\n")
	copyJournal(t, r, next)
	return next.up()
}

// TestLargeReturn delivers a return that the spool has no room for, as long as the master is there. It never gets to
// the disk, and nothing of it is left there.
func TestLargeReturn(t *testing.T) {
	r := bulkRig(t)
	r.master().publish(jid(1), "t.bulk", int64(bulk))
	r.whole(t, jid(1), bulk)
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	once(t, r.master(), jid(1))
	if raw := readFile(t, filepath.Join(r.cfg.CacheDir, "jobs.journal")); strings.Contains(raw,
		strings.Repeat("x", bulk)) {
		t.Error("it was on disk")
	}
}

// slow lets the master take returns only when go is closed.
func slow(f *fakeMaster, begin <-chan struct{}) {
	f.set(func() {
		f.answer = func(o *auth.Opened) (any, bool) {
			if o.Cmd == payload.CmdReturn {
				<-begin
			}
			return nil, false
		}
	})
}

// TestManyReturns keeps more than the spool may hold, for a master that is there and slow.
func TestManyReturns(t *testing.T) {
	r := bulkRig(t)
	f, begin := r.master(), make(chan struct{})
	slow(f, begin)
	const n = 40
	for i := range n {
		f.publish(jid(i), "t.bulk", int64(300*(1+i%20))) // some of them alone are too large
		r.awaitBegun(t, jid(i), 1)
	}
	r.awaitIdle(t)
	close(begin)
	for i := range n {
		r.whole(t, jid(i), 300*(1+i%20))
	}
	r.awaitSpool(t, 0)
	for i := range n {
		once(t, f, jid(i))
	}
}

// TestLargeReturnOutage holds a return for a master that comes back soon, and replaces it for one that does not.
func TestLargeReturnOutage(t *testing.T) {
	r := bulkRig(t)
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.bulk", int64(bulk))
	r.log.Await(t, "the return waits for the master")
	if facts := r.outcome(jid(1)); facts.Has("spooled") || facts.Str("outcome") != string(ledger.Done) {
		t.Errorf("the minion says %v", facts)
	}
	f.set(func() { f.down = false })
	r.until(t, "return", func() bool { return f.has(jid(1)) }, step)
	r.whole(t, jid(1), bulk)
	f.set(func() { f.down = true })
	f.publish(jid(2), "t.bulk", int64(bulk))
	r.awaitOutcome(t, jid(2), ledger.Unkept)
	f.set(func() { f.down = false })
	r.until(t, "return", func() bool { return f.has(jid(2)) }, step)
	r.replaced(t, jid(2))
	r.awaitSpool(t, 0)
	once(t, f, jid(1))
}

// TestLargeReturnKilled kills a minion that holds a large return, before and after the master has it: the next one
// gives the reason, or nothing.
func TestLargeReturnKilled(t *testing.T) {
	r := bulkRig(t)
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.bulk", int64(bulk))
	r.awaitSpool(t, 1)
	next := r.asLeft(t)
	next.replaced(t, jid(1))
	next.awaitSpool(t, 0)
	if facts := next.outcome(jid(1)); facts.Str("outcome") != string(ledger.Unkept) ||
		!strings.Contains(facts.Str("detail"), "return_spool_max_bytes is 3000") {
		t.Errorf("the next minion says %v", facts)
	}
	f.set(func() { f.down = false })
	r.until(t, "return", func() bool { return f.has(jid(1)) }, step)
	r.awaitSpool(t, 0)
	r.whole(t, jid(1), bulk)
	last := r.asLeft(t)
	last.run(jid(2), "t.echo", "x")
	last.awaitIdle(t)
	last.awaitSpool(t, 0)
	if last.master().has(jid(1)) {
		t.Error("a job that the master has is answered once more")
	}
}

// TestLargeReturnStopped stops a minion whose master is away: the next one gives the reason, once.
func TestLargeReturnStopped(t *testing.T) {
	r := bulkRig(t)
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.bulk", int64(bulk))
	r.log.Await(t, "the return waits for the master")
	r.stop()
	f.set(func() { f.down = false })
	r.again()
	actortest.Wait(t, "ready minion", r.ready)
	r.replaced(t, jid(1))
	r.awaitSpool(t, 0)
	once(t, f, jid(1))
}

// TestManyReturnsStopped stops a minion that holds more than the spool may for a master that is there and slow: nothing
// of it is lost, since the end of the attempts is its own doing.
func TestManyReturnsStopped(t *testing.T) {
	r := newRig(t, "return_spool_max_bytes: 3000\n")
	r.cfg.StopTimeout, r.cfg.ReturnRetryTimer, r.cfg.ReturnRetryTimerMax = 4*time.Second, time.Hour, time.Hour
	r.up()
	f := r.master()
	f.set(func() { f.stuck = true })
	const n = 12
	for i := range n {
		f.publish(jid(i), "t.bulk", int64(1600))
		r.awaitBegun(t, jid(i), 1)
	}
	r.awaitIdle(t)
	r.stop()
	f.set(func() { f.stuck = false })
	r.again()
	actortest.Wait(t, "ready minion", r.ready)
	for i := range n {
		r.whole(t, jid(i), 1600)
	}
	r.awaitSpool(t, 0)
	for i := range n {
		once(t, f, jid(i))
	}
}

// TestLargeReturnSenderDies harms the ReturnSender that holds a large return: it arrives whole.
func TestLargeReturnSenderDies(t *testing.T) {
	r := bulkRig(t)
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.bulk", int64(bulk))
	r.log.Await(t, "the return waits for the master")
	harm(t, r, "Master-master.test_4506/ReturnSender", supervisor.FaultPanic)
	f.set(func() { f.down = false })
	r.until(t, "return", func() bool { return f.has(jid(1)) }, step)
	r.whole(t, jid(1), bulk)
	r.awaitSpool(t, 0)
	once(t, f, jid(1))
}

// TestLargeReturnTakenSenderDies harms the ReturnSender that holds a large return while the master acknowledges it: the
// next one does not send it again.
func TestLargeReturnTakenSenderDies(t *testing.T) {
	r := bulkRig(t)
	f := r.master()
	f.set(func() { f.late = true })
	f.publish(jid(1), "t.bulk", int64(bulk))
	r.whole(t, jid(1), bulk)
	harm(t, r, "Master-master.test_4506/ReturnSender", supervisor.FaultPanic)
	r.awaitSpool(t, 0)
	f.set(func() { f.late = false })
	r.run(jid(2), "t.echo", "x")
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	once(t, f, jid(1))
}

// TestSpoolReplaces makes room, when the master is away, by putting the reason in the place of the oldest returns.
func TestSpoolReplaces(t *testing.T) {
	r := bulkRig(t)
	f := r.master()
	f.set(func() { f.down = true })
	for i := range 2 { // one of them fits
		f.publish(jid(i), "t.bulk", int64(1600))
		r.awaitBegun(t, jid(i), 1)
		r.awaitSpool(t, i+1)
	}
	r.awaitIdle(t)
	r.awaitOutcome(t, jid(0), ledger.Unkept)
	next := r.asLeft(t)
	for i := range 2 {
		next.master().awaitReturn(t, jid(i))
	}
	next.replaced(t, jid(0))
	next.whole(t, jid(1), 1600)
	f.set(func() { f.down = false })
	for i := range 2 {
		r.until(t, "return", func() bool { return f.has(jid(i)) }, step)
		once(t, f, jid(i))
	}
	r.replaced(t, jid(0))
	r.awaitSpool(t, 0)
}
