package minion

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/minion/link"
	"brine/wire/auth"
	"brine/wire/payload"
)

// TestReady follows a minion from its start to its first job.
func TestReady(t *testing.T) {
	r := newRig(t, "start_event_grains: [os]\nenable_legacy_startup_events: True\n").up()
	f := r.master()
	f.await(t, "start events", func() bool { return len(f.events()) == 2 })
	f.mu.Lock()
	tags, sent := f.events(), slices.Clone(f.requests)
	f.mu.Unlock()
	if !slices.Contains(tags, "minion_start") || !slices.Contains(tags, "salt/minion/m1/start") {
		t.Errorf("start events %q", tags)
	}
	for _, e := range sent {
		if grains := e.Map("grains"); grains.Len() != 1 || grains.Str("os") != "Debian" ||
			!strings.HasPrefix(e.Str("data"), "Minion m1 started at ") {
			t.Errorf("start event %v", e)
		}
	}
	ret := r.run(jid(1), "test.ping")
	if ret.Value("return") != true || ret.Value("success") != true || ret.Str("id") != "m1" ||
		ret.Str("fun") != "test.ping" {
		t.Errorf("return %v", ret)
	}
	if p, _ := r.run(jid(2), "t.pillar").Value("return").(*payload.Map); p.Str("where") != "master" {
		t.Errorf("pillar in a job: %v", p)
	}
}

// TestReadyNeedsPillar holds jobs back until the master has given a pillar.
func TestReadyNeedsPillar(t *testing.T) {
	r := newRig(t, "acceptance_wait_time: 7\nrequest_channel_tries: 1\n")
	f := r.master()
	f.pillar = errors.New("no pillar")
	r.start()
	r.log.Await(t, "Pillar data could not be refreshed")
	f.publish(jid(1), "t.echo", "x")
	r.clock.WaitTimer(t, 7*time.Second)
	if n := r.fun.count(jid(1)); n != 0 {
		t.Errorf("the job ran %d times without a pillar", n)
	}
	f.set(func() { f.pillar = payload.M("a", int64(1)) })
	r.clock.Advance(7 * time.Second)
	f.awaitReturn(t, jid(1))
}

// TestPending waits for an operator.
func TestPending(t *testing.T) {
	r := newRig(t, "acceptance_wait_time: 3\nacceptance_wait_time_max: 10\n")
	f := r.master()
	f.restart(func(o *auth.MasterOptions) { o.Rules.AcceptAll = false })
	r.start()
	for _, wait := range []time.Duration{3, 6, 12} {
		r.clock.WaitTimer(t, wait*time.Second)
		r.clock.Advance(wait * time.Second)
	}
	r.clock.WaitTimer(t, 12*time.Second)
	f.keys.set("m1", auth.StateAccepted)
	r.clock.Advance(12 * time.Second)
	actortest.Wait(t, "ready minion", r.ready)
}

// TestAuthRetries ends an attempt after so many pending answers and begins another.
func TestAuthRetries(t *testing.T) {
	r := newRig(t, "acceptance_wait_time: 3\nauth_retries: 2\nrandom_reauth_delay: 0\n")
	r.master().restart(func(o *auth.MasterOptions) { o.Rules.AcceptAll = false })
	r.start()
	r.clock.WaitTimer(t, 3*time.Second)
	r.clock.Advance(3 * time.Second)
	r.log.Await(t, "Failed to authenticate with the master after 2 attempts")
	r.clock.WaitTimer(t, 3*time.Second)
}

// TestNoAnswer counts the requests to a master that is away: auth_tries of them in each attempt.
func TestNoAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, extra string
		log         string
		waits       []time.Duration
	}{
		{"attempts", "acceptance_wait_time: 9\nacceptance_wait_time_max: 25\n",
			"Error while bringing up minion for multi-master. Is master at master.test responding?",
			[]time.Duration{9, 18, 25, 25}},
		{"safe mode", "acceptance_wait_time: 9\nauth_safemode: True\n", "did not answer the sign-in in time",
			[]time.Duration{9, 9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "random_reauth_delay: 0\n"+tt.extra)
			f := r.master()
			f.down = true
			r.start()
			r.log.Await(t, tt.log)
			for _, wait := range tt.waits {
				r.clock.WaitTimer(t, wait*time.Second)
				r.clock.Advance(wait * time.Second)
			}
			r.clock.WaitTimer(t, tt.waits[len(tt.waits)-1]*time.Second)
			f.set(func() { f.down = false })
			r.clock.Advance(tt.waits[len(tt.waits)-1] * time.Second)
			actortest.Wait(t, "ready minion", r.ready)
		})
	}
}

// TestExits are the replies that end the process.
func TestExits(t *testing.T) {
	for _, tt := range []struct {
		name, extra string
		state       string
		code        int
		wait        time.Duration // at most
	}{
		{"rejected", "", auth.StateRejected, 77, 20 * time.Second},
		{"wrong master", "master_finger: '00:11'\n", auth.StateAccepted, 42, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.extra)
			if err := r.master().keys.Put("m1", tt.state, testKey(t, "minion").Public().PEM()); err != nil {
				t.Fatal(err)
			}
			r.start()
			r.log.Await(t, "ERROR+4 ")
			if tt.wait > 0 {
				select {
				case e := <-r.exits:
					t.Errorf("exit %d without the pause", e.Code)
				default:
				}
			}
			r.clock.Advance(tt.wait)
			if e := actortest.Wait(t, "exit", r.exits); e.Code != tt.code {
				t.Errorf("exit %d, want %d: %s", e.Code, tt.code, e.Text)
			}
		})
	}
}

// TestComesBack are the replies after which a minion tries again.
func TestComesBack(t *testing.T) {
	for _, tt := range []struct {
		name, extra string
		master      func(*auth.MasterOptions)
		log         string
		heal        func(f *fakeMaster)
	}{
		{"rejected_retry", "rejected_retry: True\n", nil, "this minion goes on asking", func(f *fakeMaster) {
			f.keys.set("m1", auth.StateAccepted)
		}},
		{"full", "", func(o *auth.MasterOptions) {
			o.MaxMinions, o.Connected = 1, func(string) (int, bool) { return 2, false }
		}, "max_minions", func(f *fakeMaster) { f.restart(nil) }},
		{"key changed on the master", "", func(o *auth.MasterOptions) {
			o.Key = testKey(o.Keys.(*memKeys).t, "other")
		}, "the master's key has changed",
			func(f *fakeMaster) { f.restart(nil) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "random_reauth_delay: 0\nacceptance_wait_time: 2\n"+tt.extra)
			f := r.master()
			f.keys.t = t
			if err := f.keys.Put("m1", auth.StateRejected, testKey(t, "minion").Public().PEM()); err != nil {
				t.Fatal(err)
			}
			if tt.name != "rejected_retry" {
				f.keys.set("m1", auth.StateAccepted)
			}
			trust := newTrust(testKey(t, "master").Public().PEM())
			r.trust = trust
			if tt.master != nil {
				f.restart(tt.master)
			}
			r.start()
			r.log.Await(t, tt.log)
			r.clock.WaitTimer(t, 2*time.Second)
			tt.heal(f)
			r.clock.Advance(2 * time.Second)
			actortest.Wait(t, "ready minion", r.ready)
		})
	}
}

// TestUnresolved waits for the name of the master, and gives up after retry_dns_count.
func TestUnresolved(t *testing.T) {
	r := newRig(t, "retry_dns: 30\nretry_dns_count: 2\n")
	f := r.master()
	f.lookup = link.ErrUnresolved
	r.start()
	for range 2 {
		r.clock.WaitTimer(t, 30*time.Second)
		r.clock.Advance(30 * time.Second)
	}
	r.log.Await(t, "Master address: 'master.test' could not be resolved")
	f.set(func() { f.lookup = nil })
	if err := r.m.links[0].Renew(t.Context(), 0); err != nil { // whoever needs the master tries once more
		t.Error(err)
	}
	actortest.Wait(t, "ready minion", r.ready)
}

func TestRandomStartupDelay(t *testing.T) {
	r := newRig(t, "random_startup_delay: 9\n").start()
	r.log.Await(t, "due to configured startup_delay between 0 and 9 seconds")
	r.master().set(func() {
		if r.master().signIns > 0 {
			t.Error("signed in before the delay")
		}
	})
	r.until(t, "ready minion", func() bool { return len(r.ready) > 0 }, time.Second)
}

// TestOneSignIn lets many requests find out at once that their session has ended.
func TestOneSignIn(t *testing.T) {
	r := newRig(t, "").up()
	f := r.master()
	f.restart(nil)
	f.mu.Lock()
	before := f.signIns
	f.mu.Unlock()
	done := make(chan error, 50)
	for range cap(done) {
		go func() {
			_, err := r.m.links[0].Ask(t.Context(), payload.M("cmd", "_x", "id", "m1"), patience, 1)
			done <- err
		}()
	}
	for range cap(done) {
		if err := actortest.Wait(t, "answer", done); err != nil {
			t.Error(err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.signIns - before; n > 3 {
		t.Errorf("%d sign-ins for one new session", n)
	}
}
