package minion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/daemon"
	"brine/modules/fleet/ledger"
	"brine/modules/matchers"
	"brine/supervisor/stats"
	"brine/wire/event"
	"brine/wire/payload"
)

// poison is the function of jobs that the Dispatcher dies of.
const poison = "t.poison"

// unmatchable lets the Dispatcher die of such jobs while they are matched, as many times as there are deaths.
func (r *rig) unmatchable(deaths *atomic.Int64) *rig {
	match := r.opt.Match
	r.opt.Match = func(job *payload.Job, about matchers.Facts) bool {
		if job.Function() == poison && deaths.Add(-1) >= 0 {
			panic("poisoned")
		}
		return match(job, about)
	}
	return r
}

// poisoned lets the Dispatcher die of such jobs once they are matched.
func (r *rig) poisoned(deaths *atomic.Int64) *rig {
	r.opt.Logger = slog.New(poisonedLog{r.opt.Logger.Handler(), deaths})
	return r
}

// poisonedLog dies of the line that says that a job is this minion's.
type poisonedLog struct {
	slog.Handler
	deaths *atomic.Int64
}

func (l poisonedLog) Handle(ctx context.Context, rec slog.Record) error {
	if strings.HasPrefix(rec.Message, "User root Executing command "+poison) && l.deaths.Add(-1) >= 0 {
		panic("poisoned")
	}
	return l.Handler.Handle(ctx, rec)
}

// aside fails unless a job was answered once, with the reason and the hash by which the log knows it.
func (r *rig) aside(t *testing.T, jid string) {
	t.Helper()
	r.reason(t, jid, "The job was not run: the minion's Dispatcher died of it twice")
}

// reason fails unless a job was answered once, with a reason that begins with head, tells of the poison, and ends with
// the hash. It returns the answer.
func (r *rig) reason(t *testing.T, jid, head string) *payload.Map {
	t.Helper()
	ret := r.master().awaitReturn(t, jid)
	sum := sha256.Sum256([]byte(jid))
	text := ret.Str("return")
	if !strings.HasPrefix(text, head) || !strings.Contains(text, "poisoned") ||
		!strings.HasSuffix(text, hex.EncodeToString(sum[:])) || ret.Value("retcode") != int64(1) ||
		ret.Value("success") != false {
		t.Errorf("return of %s: %q, retcode %v, success %v", jid, text, ret.Value("retcode"), ret.Value("success"))
	}
	once(t, r.master(), jid)
	return ret
}

// TestSetAside answers a job that the Dispatcher died of twice, once, whoever asks again, and takes the others.
func TestSetAside(t *testing.T) {
	var deaths atomic.Int64
	deaths.Store(1 << 40)
	r := newRig(t, "").poisoned(&deaths).up()
	f := r.master()
	for i := range 3 {
		f.publish(jid(i), poison)
		f.publish(jid(10+i), "t.echo", "x")
	}
	for i := range 3 { // after some deaths the Dispatcher waits before it is there again
		r.until(t, "return", func() bool { return f.has(jid(i)) && f.has(jid(10+i)) }, 100*time.Millisecond)
		r.aside(t, jid(i))
	}
	if facts := r.m.JobFacts(jid(0)); facts.Str("outcome") != string(ledger.SetAside) || !facts.Has("received") {
		t.Errorf("the minion says %v", facts)
	}
	f.publish(jid(0), poison) // refused before it is delivered
	r.run(jid(20), "t.echo", "x")
	r.run(jid(21), "t.echo", "x")
	r.awaitIdle(t)
	r.stop()
	r.again()
	actortest.Wait(t, "ready minion", r.ready)
	r.run(jid(22), "t.echo", "x")
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
	for i := range 3 {
		once(t, f, jid(i))
		once(t, f, jid(10+i))
	}
	r.log.Await(t, "message set aside: the actor died of it twice")
}

// TestSetAsideIsTold: the bus of the minion and that of its master hear of a message that was set aside.
func TestSetAsideIsTold(t *testing.T) {
	var deaths atomic.Int64
	deaths.Store(1 << 40)
	r := newRig(t, "").poisoned(&deaths).up()
	heard, stands := make(chan *payload.Map, 10), make(chan struct{})
	r.m.bus.Ref().Send(&daemon.Subscribe{Name: "ear", Done: stands, Sink: func(tag string, body []byte) {
		if _, data, err := event.Unpack(body); err == nil && tag == "brine/actor/quarantine" {
			heard <- data
		}
	}})
	actortest.Wait(t, "subscription", stands)
	f := r.master()
	f.publish(jid(1), poison)
	sum := sha256.Sum256([]byte(jid(1)))
	want := payload.M("actor", "minion/Dispatcher", "message", "*jobs.Received", "hash",
		hex.EncodeToString(sum[:]), "size", len(jid(1)), "reason", "poisoned")
	got := actortest.Wait(t, "event on the minion's bus", heard)
	got.Delete("_stamp")
	if !payload.Equal(got, want) {
		t.Errorf("the minion's bus says %v, want %v", got, want)
	}
	var load *payload.Map
	f.await(t, "event for the master", func() bool {
		i := slices.IndexFunc(f.requests, func(m *payload.Map) bool { return m.Str("tag") == "brine/actor/quarantine" })
		if i >= 0 {
			load = f.requests[i]
		}
		return i >= 0
	})
	if load.Str("cmd") != payload.CmdMinionEvent || load.Str("id") != "m1" || !payload.Equal(load.Map("data"), want) {
		t.Errorf("the master hears %v, want %v", load, want)
	}
	r.aside(t, jid(1))
}

// TestDeadlyEventIsSetAside: an event is the same whoever fires it again.
func TestDeadlyEventIsSetAside(t *testing.T) {
	r := newRig(t, "").up()
	body, err := event.Pack("a/tag", payload.M("x", 1), 0)
	if err != nil {
		t.Fatal(err)
	}
	stands := make(chan struct{})
	r.m.bus.Ref().Send(&daemon.Subscribe{Name: "deadly", Done: stands, Sink: func(tag string, _ []byte) {
		if tag == "a/tag" {
			panic("poisoned")
		}
	}})
	actortest.Wait(t, "subscription", stands)
	for range 3 {
		r.m.bus.Ref().Send(&daemon.FireEvent{Body: slices.Clone(body)})
	}
	r.until(t, "quarantine", func() bool {
		c, err := r.m.top.Look("EventBus")
		return err == nil && c.Quarantined == 1 && c.DeadLetters["quarantined"] == 1 && c.Restarts == 2 &&
			c.State == stats.StateRunning
	}, 0)
}

// TestSetAsideOnce runs a job that the Dispatcher died of once, before it was matched or after, once.
func TestSetAsideOnce(t *testing.T) {
	for _, tt := range []struct {
		name string
		kill func(*rig, *atomic.Int64) *rig
	}{{"matched", (*rig).poisoned}, {"unmatched", (*rig).unmatchable}} {
		t.Run(tt.name, func(t *testing.T) {
			var deaths atomic.Int64
			deaths.Store(1)
			r := tt.kill(newRig(t, ""), &deaths).up()
			if text := r.run(jid(1), poison).Str("return"); !strings.Contains(text, "'t.poison' is not available") {
				t.Errorf("return %q", text)
			}
			r.awaitIdle(t)
			once(t, r.master(), jid(1))
		})
	}
}

// TestUnmatched lets the Dispatcher die of the matching. Only a job that names the minion is answered; of the others
// the master is told.
func TestUnmatched(t *testing.T) {
	var deaths atomic.Int64
	deaths.Store(1 << 40)
	r := newRig(t, "").unmatchable(&deaths).up()
	f := r.master()
	f.publish(jid(0), poison)
	f.send(f.sealed(load(jid(1), poison).Set("tgt", "m1")))
	f.send(f.sealed(load(jid(2), poison).Set("tgt", []any{"web1", "m1"}).Set("tgt_type", "list")))
	f.send(f.sealed(load(jid(3), poison).Set("tgt", "role:web").Set("tgt_type", "grain")))
	f.send(f.sealed(load(jid(4), poison).Set("tgt", []any{"web1"}).Set("tgt_type", "list")))
	f.publish(jid(5), "t.echo", "x")
	r.until(t, "returns", func() bool { return f.has(jid(1)) && f.has(jid(2)) && f.has(jid(5)) }, 100*time.Millisecond)
	r.aside(t, jid(1))
	r.aside(t, jid(2))
	told := map[string]*ledger.Minion{}
	r.until(t, "facts", func() bool {
		f.toldOf(told)
		return told[jid(0)] != nil && told[jid(3)] != nil && told[jid(4)] != nil
	}, 100*time.Millisecond)
	for n, want := range map[int]string{0: "m* (glob): ", 3: "role:web (grain): ", 4: "[web1] (list): "} {
		m := told[jid(n)]
		if m.Outcome != ledger.MatchFailed || !strings.HasPrefix(m.Detail, want) || !strings.HasSuffix(m.Detail,
			"poisoned") || m.Received == 0 || m.Made != 0 {
			t.Errorf("of job %d the master is told %+v", n, m)
		}
		if f.has(jid(n)) {
			t.Errorf("job %d is answered: %v", n, f.awaitReturn(t, jid(n)))
		}
	}
	r.awaitIdle(t)
	r.awaitSpool(t, 0)
}

// toldOf adds what a master was told of jobs that are not over.
func (f *fakeMaster) toldOf(told map[string]*ledger.Minion) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.requests {
		for k, v := range q.Map("jobs").All() {
			if facts, err := ledger.UnpackMinion(payload.AsBytes(v)); err == nil &&
				q.Str("cmd") == payload.CmdBrineFacts {
				told[k.(string)] = facts
			}
		}
	}
}

// TestUnmatchedThenPoisoned answers a job that the Dispatcher died of once before and once after it was matched.
func TestUnmatchedThenPoisoned(t *testing.T) {
	var early, late atomic.Int64
	early.Store(1)
	late.Store(1)
	r := newRig(t, "").unmatchable(&early).poisoned(&late).up()
	r.master().publish(jid(1), poison)
	r.aside(t, jid(1))
}

// TestSetAsideKilled kills a minion, whose master is away, after it has set a job aside: the next one answers, once.
func TestSetAsideKilled(t *testing.T) {
	var deaths atomic.Int64
	deaths.Store(1 << 40)
	r := newRig(t, "").poisoned(&deaths).up()
	f := r.master()
	f.set(func() { f.down = true })
	f.publish(jid(1), poison)
	r.awaitSpool(t, 1)
	next := newRig(t, "")
	copyJournal(t, r, next)
	next.up()
	next.aside(t, jid(1))
	next.awaitSpool(t, 0)
	next.run(jid(2), "t.echo", "x")
	once(t, next.master(), jid(1))
	f.set(func() { f.down = false })
	r.until(t, "return", func() bool { return f.has(jid(1)) }, step)
	r.aside(t, jid(1))
}

// copyJournal puts what one minion has on disk where another will find it, as a kill leaves it.
func copyJournal(t *testing.T, from, to *rig) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(from.cfg.CacheDir, "jobs.journal"))
	if err == nil {
		err = os.MkdirAll(to.cfg.CacheDir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(to.cfg.CacheDir, "jobs.journal"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
