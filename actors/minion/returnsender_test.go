package minion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// spooled are the returns on disk for the first master.
func (r *rig) spooled(t *testing.T) []journal.Spooled {
	t.Helper()
	return actortest.Ask(t, r.m.journal, func(reply chan<- []journal.Spooled) any {
		return &journal.List{Link: r.m.links[0].Name(), Done: func(all []journal.Spooled) { reply <- all }}
	})
}

// TestOutage keeps the returns of a master that is away, and delivers each once when it is back.
func TestOutage(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	const n = 150 // more than are held in memory
	f.set(func() { f.down = true })
	for i := range n {
		f.publish(jid(i), "t.echo", int64(i))
	}
	for i := range n {
		r.awaitBegun(t, jid(i), 1)
	}
	r.log.Await(t, "the return waits for the master")
	r.awaitIdle(t)
	if all := r.spooled(t); len(all) != n {
		t.Errorf("%d returns on disk, want %d", len(all), n)
	}
	f.set(func() { f.down = false })
	f.mu.Lock()
	to := f.to
	f.mu.Unlock()
	to.Link(false)
	to.Link(true) // the publish port is back: nobody waits for the next retry
	for i := range n {
		// but those whose request was under way at that moment
		r.until(t, "return", func() bool { return f.has(jid(i)) }, time.Second)
		if got := f.awaitReturn(t, jid(i)).Value("return"); got != int64(i) {
			t.Errorf("return of job %d: %v", i, got)
		}
	}
	r.run(jid(n), "t.echo", "x")
	r.awaitSpool(t, 0)
	for i := range n {
		once(t, f, jid(i))
	}
}

// awaitSpool waits until so many returns are on disk.
func (r *rig) awaitSpool(t *testing.T, n int) {
	t.Helper()
	limit := time.After(patience)
	for {
		all := r.spooled(t)
		if len(all) == n {
			return
		}
		select {
		case <-limit:
			t.Fatalf("%d returns on disk, want %d", len(all), n)
		default:
		}
	}
}

// TestRetryTimer tries again by itself, with growing pauses.
func TestRetryTimer(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.echo", "x")
	r.log.Await(t, "the return waits for the master")
	f.set(func() { f.down = false })
	r.until(t, "return", func() bool { return f.has(jid(1)) }, time.Second)
}

// TestRetryWhenListening: neither a return nor a sign-in waits for the end of its pause once the master listens again.
func TestRetryWhenListening(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	listens := make(chan struct{})
	f.set(func() { f.down, f.listens = true, listens })
	f.publish(jid(1), "t.echo", "x")
	r.log.Await(t, "the return waits for the master")
	f.set(func() { f.down = false })
	close(listens)
	f.awaitReturn(t, jid(1)) // the clock of the test stands still

	listens = make(chan struct{})
	f.set(func() { f.down, f.listens = true, listens })
	before := r.m.links[0].Sessions()
	r.m.links[0].Authenticator().Send(&link.SignIn{After: before})
	r.log.Await(t, "Error while bringing up minion for multi-master")
	f.set(func() { f.down = false })
	close(listens)
	r.until(t, "session", func() bool { return r.m.links[0].Sessions() > before }, 0)
}

// TestRetryFollowsSuccess: when the master answers again after a while, nobody waits for the next retry.
func TestRetryFollowsSuccess(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), "t.echo", "x")
	r.until(t, "second attempt", func() bool {
		tries := 0
		for _, l := range r.log.Lines() {
			if strings.Contains(l, "the return waits for the master") {
				tries++
			}
		}
		return tries >= 2
	}, time.Second)
	f.set(func() { f.down = false })
	r.run(jid(2), "t.echo", "y")
	if got := f.awaitReturn(t, jid(1)).Value("return"); got != "x" {
		t.Errorf("got %v", got)
	}
}

// TestSpoolLimits drops the oldest returns, and says so.
func TestSpoolLimits(t *testing.T) {
	for _, tt := range []struct{ name, extra string }{
		{"size", "return_spool_max_bytes: 2000\n"},
		{"age", "return_spool_max_age: 60\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.extra).up()
			f := r.master()
			f.set(func() { f.down = true })
			for i := range 40 {
				f.publish(jid(i), "t.echo", strings.Repeat("x", 30))
				r.awaitBegun(t, jid(i), 1)
			}
			r.awaitIdle(t)
			dropped := func() bool {
				return slices.ContainsFunc(r.log.Lines(), func(l string) bool {
					return strings.Contains(l, "returns are dropped: the master was away for too long")
				})
			}
			for limit := time.After(patience); !dropped(); { // a retry may set its timer after one moved the clock
				r.clock.Advance(2 * time.Minute)
				select {
				case <-limit:
					t.Fatal("nothing was dropped")
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
}

// TestFullDisk says once that nothing can be kept; jobs run and returns are delivered all the same.
func TestFullDisk(t *testing.T) {
	r := newRig(t, "")
	if err := os.MkdirAll(filepath.Join(r.cfg.CacheDir, "jobs.journal"), 0o700); err != nil {
		// where the file should be
		t.Fatal(err)
	}
	r.up()
	f := r.master()
	f.set(func() { f.down = true })
	for i := range 20 {
		f.publish(jid(i), "t.echo", "x")
		r.awaitBegun(t, jid(i), 1)
	}
	r.log.Await(t, sayNoJournal)
	harm(t, r, "Master-master.test_4506/ReturnSender", supervisor.FaultPanic)
	f.set(func() { f.down = false })
	for i := range 20 {
		r.until(t, "return", func() bool { return f.has(jid(i)) }, time.Second)
	}
	count := 0
	for _, line := range r.log.Lines() {
		if strings.Contains(line, sayNoJournal) {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%q said %d times", sayNoJournal, count)
	}
	if err := os.Remove(filepath.Join(r.cfg.CacheDir, "jobs.journal")); err != nil {
		t.Fatal(err)
	}
	f.set(func() { f.down = true })
	f.publish(jid(30), "t.echo", "x") // there is room again
	r.awaitSpool(t, 1)
}

// TestReturnSenderDies harms the ReturnSender while returns are under way: each arrives.
func TestReturnSenderDies(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	const n = 100
	for i := range n {
		f.publish(jid(i), "t.echo", "x")
		if i%10 == 5 {
			harm(t, r, "Master-master.test_4506/ReturnSender", supervisor.FaultPanic)
		}
	}
	for i := range n {
		f.awaitReturn(t, jid(i))
		if got := r.fun.count(jid(i)); got != 1 {
			t.Errorf("job %d ran %d times", i, got)
		}
	}
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
}

// TestRefusedReturn keeps a return that the master cannot read, as one it has not got.
func TestRefusedReturn(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	refused := 0
	f.set(func() {
		f.answer = func(o *auth.Opened) (any, bool) {
			if o.Cmd == payload.CmdReturn && refused < 3 {
				refused++
				f.restart(nil) // the session is void before the answer is there
				return nil, true
			}
			return nil, false
		}
	})
	f.publish(jid(1), "t.echo", "x")
	r.awaitBegun(t, jid(1), 1)
	limit := time.After(patience)
	for len(r.spooled(t)) > 0 {
		select {
		case <-limit:
			t.Fatal("the return stays")
		default:
		}
		r.clock.Advance(time.Second)
	}
}
