package minion

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/fleet/ledger"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// TestRotation lets many publications come with a new key at once: all run, in order, after one sign-in.
func TestRotation(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	r.run(jid(1), "t.echo", "x")
	for round := range 3 {
		f.restart(nil)
		f.mu.Lock()
		before := f.signIns
		f.mu.Unlock()
		var frames [][]byte
		for i := range 40 {
			frames = append(frames, f.sealed(load(jid(100*round+i+10), "t.echo", "x")))
		}
		f.send(frames...)
		for i := range 40 {
			f.awaitReturn(t, jid(100*round+i+10))
		}
		f.mu.Lock()
		if n := f.signIns - before; n > 2 {
			t.Errorf("%d sign-ins for one new key", n)
		}
		f.mu.Unlock()
	}
}

// TestNoStaleJobs drops publications that come while the key is not accepted: they must not run hours later.
func TestNoStaleJobs(t *testing.T) {
	r := newRig(t, "acceptance_wait_time: 7\n").up()
	f := r.master()
	f.await(t, "start events", func() bool { return len(f.events()) == 2 })
	f.restart(func(o *auth.MasterOptions) { o.Rules.AcceptAll = false })
	f.keys.set("m1", auth.StatePending)
	f.publish(jid(1), "t.echo", "x")
	r.log.Await(t, "publication dropped")
	r.notReady(t, "operator")
	f.keys.set("m1", auth.StateAccepted)
	r.clock.WaitTimer(t, r.cfg.AcceptanceWaitTime)
	r.clock.Advance(r.cfg.AcceptanceWaitTime)
	r.run(jid(2), "t.echo", "x")
	if n := r.fun.count(jid(1)); n != 0 {
		t.Errorf("the stale job ran %d times", n)
	}
}

// notReady fails unless the minion says of a job that it does not know that it was not ready, and why.
func (r *rig) notReady(t *testing.T, why string) {
	t.Helper()
	all := ledger.ReadRefusals(r.m.JobFacts(jid(999)).List(ledger.FieldRefused))
	if !slices.ContainsFunc(all, func(r ledger.Refusal) bool {
		return r.Outcome == ledger.OutcomeNotReady && strings.Contains(r.Why, why) && r.At != 0
	}) {
		t.Errorf("refusals %+v", all)
	}
}

// TestTooManyHeld drops the oldest publications of those that come before the minion is ready, and tells of it.
func TestTooManyHeld(t *testing.T) {
	r := newRig(t, "")
	f := r.master()
	f.pillar = errors.New("no pillar")
	r.start()
	r.log.Await(t, "Pillar data could not be refreshed")
	for i := range defaultBounds().held + 1 {
		f.publish(jid(i), "t.echo", "x")
	}
	r.log.Await(t, "the oldest is dropped")
	r.notReady(t, "1000 publications waited already")
}

// TestBadFrames are messages of the publish port that are no jobs; the minion lives on.
func TestBadFrames(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	other := newFakeMaster(t, nil)
	f.send([]byte("x"), nil, []byte{0x81}, other.sealed(load(jid(1), "t.echo", "x")))
	bare, err := (&payload.Publication{Enc: "clear", Load: []byte("x")}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	f.send(bare)
	incomplete := load(jid(2), "t.echo", "x")
	incomplete.Delete("arg")
	f.send(f.sealed(incomplete))
	repeated := f.sealed(load(jid(3), "t.echo", "x"))
	f.send(repeated, repeated)
	r.run(jid(4), "test.ping")
	f.awaitReturn(t, jid(3))
	if n := r.fun.count(jid(3)); n != 1 {
		t.Errorf("a repeated frame ran %d times: %q", n, r.log.Lines())
	}
	if n := r.fun.count(jid(1)) + r.fun.count(jid(2)); n != 0 {
		t.Errorf("%d jobs ran that are none", n)
	}
	for _, c := range r.m.top.Snapshot() {
		if c.Restarts > 0 {
			t.Errorf("%s died: %v", c.Name, c.LastDeath)
		}
	}
}

// TestFiltering: with zmq_filtering a minion wants only what is for it, and shows a brine master who it is.
func TestFiltering(t *testing.T) {
	for conf, filter := range map[string]bool{"zmq_filtering: True\n": true, "": false} {
		r := newRig(t, conf).up()
		f := r.master()
		f.mu.Lock()
		to := f.to
		f.mu.Unlock()
		if named := r.m.links[0].Named(); to.Filter != filter || to.Mark != named || named == "" {
			t.Errorf("%q: filter %v, mark %q, want %q", conf, to.Filter, to.Mark, named)
		}
	}
}

// TestReconnect asks for a session when the connection comes back, and for the name when it does not.
func TestReconnect(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.await(t, "start event", func() bool { return len(f.events()) == 2 })
	f.mu.Lock()
	to, before := f.to, f.signIns
	f.mu.Unlock()
	to.Link(false)
	r.log.Await(t, "Connection to master master.test lost")
	f.restart(nil)
	to.Link(true)
	f.await(t, "sign-in", func() bool { return f.signIns > before })
	r.run(jid(1), "t.echo", "x")

	f.set(func() { f.moves = true })
	to.Link(false)
	r.clock.WaitTimer(t, 10*time.Second) // the master is looked for
	r.clock.Advance(10 * time.Second)
	f.await(t, "second subscription", func() bool { return f.subs == 2 })
	r.run(jid(2), "t.echo", "x")
	to.Link(false) // the old subscription has nothing to say any more
	r.run(jid(3), "t.echo", "x")
	if !r.m.links[0].Connected() {
		t.Error("an old subscription made the link look lost")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if tags := f.events(); len(tags) != 2 {
		t.Errorf("start events again: %q", tags)
	}
}

// TestUnansweredRequest looks for the master's address while the publish port seems well.
func TestUnansweredRequest(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.set(func() { f.down, f.moves = true, true })
	if _, err := r.m.links[0].Ask(t.Context(), payload.M("cmd", "_x", "id", "m1"), 1, 2); err == nil {
		t.Error("a master that is away has answered")
	}
	f.await(t, "second subscription", func() bool { return f.subs == 2 })
}

// TestPublishPort follows a master whose publish port changes.
func TestPublishPort(t *testing.T) {
	for _, tt := range []struct {
		extra string
		want  int64
	}{{"", 4999}, {"publish_port: 4506\n", 4999}, {"publish_port: 5001\n", 5001}} {
		r := newRig(t, tt.extra)
		ports := make(chan int, 4)
		f := r.master()
		r.opt.transport = portSpy(f, ports)
		f.restart(func(o *auth.MasterOptions) { o.PublishPort = 4999 })
		r.up()
		if got := actortest.Wait(t, "subscription", ports); int64(got) != tt.want {
			t.Errorf("%q: port %d, want %d", tt.extra, got, tt.want)
		}
		r.stop()
	}
}

// TestSubscriberDies harms the Subscriber at every message it can get: no job is lost, none runs twice.
func TestSubscriberDies(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	const n = 200
	for i := range n {
		f.publish(jid(i), "t.echo", "x")
		if i%20 == 10 {
			harm(t, r, "Master-master.test_4506/Subscriber", supervisor.FaultPanic)
		}
		if i%50 == 30 { // what the old key has sealed is to be opened with it
			for j := range i + 1 {
				f.awaitReturn(t, jid(j))
			}
			f.restart(nil)
		}
	}
	for i := range n {
		f.awaitReturn(t, jid(i))
		if got := r.fun.count(jid(i)); got != 1 {
			t.Errorf("job %d ran %d times", i, got)
		}
	}
}

// harm injects a fault into an actor that has lived long enough to be started again at once.
func harm(t *testing.T, r *rig, path string, how supervisor.Fault) {
	t.Helper()
	r.clock.Advance(2 * time.Second)
	if err := r.m.top.Inject(path, how); err != nil && !errors.Is(err, supervisor.ErrGone) { // it is dying already
		t.Fatal(err)
	}
}
