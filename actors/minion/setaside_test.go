package minion

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/ledger"
	"brine/modules/matchers"
	"brine/supervisor/stats"
	"brine/wire/event"
	"brine/wire/payload"
)

// poison is the function of jobs that the Dispatcher dies of while they are matched.
const poison = "t.poison"

// poisoned lets the Dispatcher die of such jobs, as many times as there are deaths.
func (r *rig) poisoned(deaths *atomic.Int64) *rig {
	match := r.opt.Match
	r.opt.Match = func(load *payload.Map, about matchers.Facts) bool {
		if load.Str("fun") == poison && deaths.Add(-1) >= 0 {
			panic("poisoned")
		}
		return match(load, about)
	}
	return r
}

// aside fails unless a job was answered once, with the reason and the hash by which the log knows it.
func (r *rig) aside(t *testing.T, jid string) {
	t.Helper()
	ret := r.master().awaitReturn(t, jid)
	sum := sha256.Sum256([]byte(jid))
	text := ret.Str("return")
	if !strings.HasPrefix(text, "The job was not run: the minion's Dispatcher died of it twice") || !strings.Contains(text, "poisoned") ||
		!strings.HasSuffix(text, hex.EncodeToString(sum[:])) || ret.Value("retcode") != int64(1) || ret.Value("success") != false {
		t.Errorf("return of %s: %q, retcode %v, success %v", jid, text, ret.Value("retcode"), ret.Value("success"))
	}
	once(t, r.master(), jid)
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
	r.m.bus.Send(&Subscribe{Name: "ear", Done: stands, Sink: func(tag string, body []byte) {
		if _, data, err := event.Unpack(body); err == nil && tag == "brine/actor/quarantine" {
			heard <- data
		}
	}})
	actortest.Wait(t, "subscription", stands)
	f := r.master()
	f.publish(jid(1), poison)
	sum := sha256.Sum256([]byte(jid(1)))
	want := payload.M("actor", "minion/Dispatcher", "message", "*minion.JobReceived", "hash", hex.EncodeToString(sum[:]), "size", len(jid(1)), "reason", "poisoned")
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
	r.m.bus.Send(&Subscribe{Name: "deadly", Done: stands, Sink: func(tag string, _ []byte) {
		if tag == "a/tag" {
			panic("poisoned")
		}
	}})
	actortest.Wait(t, "subscription", stands)
	for range 3 {
		r.m.bus.Send(&FireEvent{Body: slices.Clone(body)})
	}
	r.until(t, "quarantine", func() bool {
		c, err := r.m.top.Look("EventBus")
		return err == nil && c.Quarantined == 1 && c.DeadLetters["quarantined"] == 1 && c.Restarts == 2 && c.State == stats.StateRunning
	}, 0)
}

// TestSetAsideOnce runs a job that the Dispatcher died of once, once.
func TestSetAsideOnce(t *testing.T) {
	var deaths atomic.Int64
	deaths.Store(1)
	r := newRig(t, "").poisoned(&deaths).up()
	if text := r.run(jid(1), poison).Str("return"); !strings.Contains(text, "'t.poison' is not available") {
		t.Errorf("return %q", text)
	}
	r.awaitIdle(t)
	once(t, r.master(), jid(1))
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
