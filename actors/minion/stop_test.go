package minion

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/minion/jobs"
	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/supervisor"
	"brine/wire/auth"
)

// late are the phases of the last stop that were not over in time, with the actors.
func (r *rig) late() (list []string) {
	for _, p := range r.report.Phases {
		if len(p.Late) > 0 {
			list = append(list, fmt.Sprint(p.Name, p.Late))
		}
	}
	return list
}

// TestStop ends the jobs that run, and their returns arrive before the minion ends.
func TestStop(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	for i := range 3 {
		f.publish(jid(i), "t.block")
		r.awaitBegun(t, jid(i), 1)
	}
	r.stop()
	var phases []string
	for _, p := range r.report.Phases {
		phases = append(phases, p.Name)
	}
	if want := []string{jobs.PhaseJobs, supervisor.PhaseIntake, supervisor.PhaseMail,
		supervisor.PhaseFlushed}; !slices.Equal(phases, want) || len(r.late()) > 0 {
		t.Errorf("phases %q, late %q", phases, r.late())
	}
	for i := range 3 {
		if text := f.awaitReturn(t, jid(i)).Value("return"); text != sayStopped && text != "released" {
			t.Errorf("return of a job that was running at the stop: %v", text)
		}
	}
	if left := files(t, filepath.Join(r.cfg.CacheDir, "proc")); len(left) > 0 {
		t.Errorf("proc entries left: %q", left)
	}
	if j, err := openLeft(filepath.Join(r.cfg.CacheDir, "jobs.journal")); err != nil ||
		len(j.List(journal.Begun, "")) > 0 || len(j.List(journal.Returned, "")) > 0 {
		t.Errorf("left in the journal: %v, %v", j, err)
	}
}

// TestLateAcknowledgement lets the master acknowledge a return when the minion is about to end: the next one does not
// send it once more.
func TestLateAcknowledgement(t *testing.T) {
	r := newRig(t, "")
	r.cfg.StopTimeout = 4 * time.Second
	r.up()
	f := r.master()
	f.set(func() { f.late = true })
	f.publish(jid(1), "t.echo", "x")
	f.awaitReturn(t, jid(1))
	r.stop()
	if late := r.late(); len(late) > 0 &&
		!slices.Equal(late, []string{"stores flushed[minion/Master-master.test_4506/ReturnSender]"}) {
		t.Errorf("late %q", late)
	}
	f.set(func() { f.late = false })
	r.again()
	actortest.Wait(t, "ready minion", r.ready)
	r.run(jid(2), "t.echo", "x")
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	once(t, f, jid(1))
}

// TestStopInOutage stops a minion with jobs running and its master away: nothing waits for that, and the next minion
// gives all returns, each once.
func TestStopInOutage(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	const n = 20
	for i := range n {
		f.publish(jid(i), "t.deaf")
		r.awaitBegun(t, jid(i), 1)
	}
	f.set(func() { f.down = true })
	r.stop()
	if late := r.late(); len(late) > 0 {
		t.Errorf("late %q", late)
	}
	f.set(func() { f.down = false })
	r.again()
	actortest.Wait(t, "ready minion", r.ready)
	for i := range n {
		if text := f.awaitReturn(t, jid(i)).Value("return"); text != sayStopped && text != "released" {
			t.Errorf("return of a job that was running at the stop: %v", text)
		}
	}
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	for i := range n {
		once(t, f, jid(i))
	}
}

// TestJobAtTheEnd answers a job that comes while the minion stops, and does not run it.
func TestJobAtTheEnd(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.publish(jid(1), "t.block")
	r.awaitBegun(t, jid(1), 1)
	ended := make(chan struct{})
	r.m.jobs.Dispatcher().Send(&jobs.Stop{Ended: ended})
	actortest.Wait(t, "end of the jobs", ended)
	if text := r.run(jid(2), "t.echo", "x").Str("return"); text != sayStopping {
		t.Errorf("return %q", text)
	}
	r.stop()
	if r.fun.count(jid(2)) != 0 {
		t.Error("it ran")
	}
	if text := f.awaitReturn(t, jid(1)).Str("return"); text != sayStopped {
		t.Errorf("return of the job before: %q", text)
	}
	once(t, f, jid(1))
	once(t, f, jid(2))
}

// TestIntakeCloses ends the subscription for good, but still opens what has come before, and answers it.
func TestIntakeCloses(t *testing.T) {
	r := newRig(t, "").up()
	f, l := r.master(), r.m.links[0]
	f.publish(jid(1), "t.echo", "x")
	closed := make(chan struct{})
	l.Subscriber().Send(&supervisor.CloseIntake{Done: func() { close(closed) }})
	actortest.Wait(t, "closed intake", closed)
	f.awaitReturn(t, jid(1))
	if !l.Up() {
		t.Error("the returns do not go out any more")
	}
	f.mu.Lock()
	subs := f.subs
	f.moves = true
	f.mu.Unlock()
	for _, m := range []any{&link.Reconnect{}, &link.SignedIn{}, &link.LookAgain{}} {
		l.Subscriber().Send(m)
	}
	renewed := make(chan error, 1)
	l.Authenticator().Send(&supervisor.CloseIntake{Done: func() {}})
	l.Authenticator().Send(&link.SignIn{After: l.Sessions(), Done: func(err error) { renewed <- err }})
	if err := actortest.Wait(t, "sign-in", renewed); err != nil { // a return may need it
		t.Errorf("sign-in at the end: %v", err)
	}
	r.stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subs != subs {
		t.Error("another subscription was made")
	}
}

// TestStopWhilePending stops a minion that waits for an operator: nobody waits for the next sign-in.
func TestStopWhilePending(t *testing.T) {
	r := newRig(t, "acceptance_wait_time: 600\n")
	f := r.master()
	f.restart(func(o *auth.MasterOptions) { o.Rules.AcceptAll = false })
	r.start()
	f.await(t, "sign-in", func() bool { return f.signIns > 0 })
	r.log.Await(t, "operator")
	told := make(chan error, 1)
	l := r.m.links[0]
	l.Authenticator().Send(&link.SignIn{Done: func(err error) { told <- err }})
	closed := make(chan struct{})
	l.Authenticator().Send(&supervisor.CloseIntake{Done: func() { close(closed) }})
	actortest.Wait(t, "closed intake", closed)
	if err := actortest.Wait(t, "end of the wait", told); err == nil || !strings.Contains(err.Error(), "broken off") {
		t.Errorf("who waits is told %v", err)
	}
	r.stop()
	if late := r.late(); len(late) > 0 {
		t.Errorf("late %q", late)
	}
}
