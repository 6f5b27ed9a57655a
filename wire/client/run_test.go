package client

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brine/wire/payload"
)

const (
	jid1 = "20261121022850357139"
	jid2 = "20261121022855357139"
)

func startRun(t *testing.T, c *Client, job Job) *Run {
	t.Helper()
	r, err := c.Run(testContext(t), job)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func expectReturns(t *testing.T, r *Run, want ...Return) {
	t.Helper()
	got, err := collect(testContext(t), r)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestRunEarlyReturns: the returns of quick minions may be on the bus before the master has answered the publish
// request.
func TestRunEarlyReturns(t *testing.T) {
	var m *fakeMaster
	m = newFakeMaster(t, func(*payload.Map) any {
		m.fire("salt/job/"+jid2+"/ret/a", payload.M("jid", jid2, "id", "a", "return", "of another job"))
		m.fire("salt/job/"+jid1+"/new", payload.M("jid", jid1, "minions", []string{"a", "b"}, "missing", []any{}))
		m.returns(jid1, "a", true)
		m.returns(jid1, "a", "twice")
		m.returns(jid1, "b", "x")
		return published(jid1, "a", "b")
	})
	r := startRun(t, m.client(m.options()), Job{Tgt: "*", Fun: "test.ping"})
	if d := cmp.Diff(Published{JID: jid1, Minions: []string{"a", "b"}, Missing: []string{}}, r.Published); d != "" {
		t.Error(d)
	}
	expectReturns(t, r, Return{ID: "a", Value: true}, Return{ID: "b", Value: "x"})
	want := payload.M(
		"cmd", "publish", "tgt", "*", "fun", "test.ping", "arg", []any{}, "key", "the key", "tgt_type", "glob",
		"ret", "", "jid", "", "user", "root",
	)
	if got := m.load(); !want.Equal(got) {
		t.Errorf("load: got %v, want %v", got, want)
	}
}

func TestRunFields(t *testing.T) {
	var m *fakeMaster
	m = newFakeMaster(t, func(*payload.Map) any {
		m.fire("salt/job/"+jid1+"/ret/a", payload.M("id", "a"))               // not a return
		m.fire("salt/job/"+jid1+"/prog/a/1", payload.M("return", "progress")) // not a return
		m.fire("salt/job/"+jid1+"/ret/a", payload.M("return", "nobody"))
		m.fire("salt/job/"+jid1+"0/ret/a", payload.M("id", "a", "return", "of a longer jid"))
		m.fire("salt/job/"+jid1+"/ret/a", payload.M("id", "a", "return", nil, "retcode", 3, "out", "highstate"))
		m.fire("salt/job/"+jid1+"/ret/dummy", payload.M("id", "a", "resource_id", "dummy", "return", int64(1)))
		return published(jid1, "a", "dummy")
	})
	r := startRun(t, m.client(m.options()), Job{Tgt: "*", Fun: "test.ping"})
	expectReturns(t, r, Return{ID: "a", Retcode: 3, Out: "highstate"}, Return{ID: "dummy", Value: int64(1)})
}

// TestRunFindJob: find_job asks a silent minion, and the answer decides how long the run waits for it.
func TestRunFindJob(t *testing.T) {
	var m *fakeMaster
	m = newFakeMaster(t, func(load *payload.Map) any {
		if load.Value("fun") == "saltutil.find_job" {
			// The answers arrive before the jid of find_job is known.
			m.fire("salt/job/"+jid2+"/new", payload.M("jid", jid2, "minions", []string{"slow", "idle"}))
			m.returns(jid2, "slow", payload.M("jid", jid1, "pid", 1))
			m.returns(jid2, "idle", payload.NewMap(0))
			m.returns(jid1, "slow", "at last")
			return published(jid2, "slow", "idle")
		}
		m.returns(jid1, "quick", true)
		return published(jid1, "quick", "slow", "idle")
	})
	job := Job{Tgt: "*", Fun: "test.ping", Kwargs: payload.M("delimiter", ",", "metadata", "x", "token", "t")}
	r := startRun(t, m.client(m.options()), job)
	r.track.grace = 10 * time.Millisecond
	var got []Return
	for ret, err := range r.Returns(testContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if ret.ID == "quick" {
			r.track.deadline = time.Now() // the others are asked next
		}
		ret.Data = nil
		got = append(got, ret)
	}
	if d := cmp.Diff([]Return{{ID: "quick", Value: true}, {ID: "slow", Value: "at last"},
		{ID: "idle", Silence: NotRunning}}, got); d != "" {
		t.Error(d)
	}
	m.load()
	want := payload.M(
		"cmd", "publish", "tgt", []any{"idle", "slow"}, "fun", "saltutil.find_job", "arg", []any{jid1},
		"tgt_type", "list", "ret", "", "jid", "", "kwargs", payload.M("delimiter", ",", "token", "t"), "user", "root",
	)
	if got := m.load(); !want.Equal(got) {
		t.Errorf("find_job load: got %v, want %v", got, want)
	}
}

func TestRunDead(t *testing.T) {
	m := newFakeMaster(t, func(load *payload.Map) any {
		if load.Value("fun") == "saltutil.find_job" {
			return published(jid2, "dead")
		}
		return published(jid1, "dead")
	})
	r := startRun(t, m.client(m.options()), Job{Tgt: "*", Fun: "test.ping"})
	start := time.Now()
	hurry(r)
	expectReturns(t, r, Return{ID: "dead", Silence: NoResponse})
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("took %v, want timeout and gather_job_timeout", took)
	}
}

func TestRunMissingAndGone(t *testing.T) {
	m := newFakeMaster(t, func(*payload.Map) any {
		reply := published(jid1, "off")
		reply.Map("load").Set("missing", []string{"nope"})
		return reply
	})
	opt := m.options()
	opt.Gone = func(_ context.Context, _ string, ids []string) []string { return ids }
	r := startRun(t, m.client(opt), Job{Tgt: []string{"off", "nope"}, TgtType: "list", Fun: "test.ping"})
	expectReturns(t, r, Return{ID: "off", Silence: NotConnected}, Return{ID: "nope", Silence: Unknown})
}

func TestRunNothingMatched(t *testing.T) {
	m := newFakeMaster(t, func(*payload.Map) any {
		return payload.M("enc", "clear", "load", payload.M("jid", nil, "minions", []any{}, "error",
			"Master could not resolve minions for target x"))
	})
	r := startRun(t, m.client(m.options()), Job{Tgt: "x", Fun: "test.ping"})
	if r.JID != "" || r.Note != "Master could not resolve minions for target x" {
		t.Errorf("got %+v", r.Published)
	}
	expectReturns(t, r)
}

// TestRunSyndic: with order_masters, events name the minions below a syndic.
func TestRunSyndic(t *testing.T) {
	var m *fakeMaster
	m = newFakeMaster(t, func(load *payload.Map) any {
		m.fire("syndic/north/"+jid1, payload.M("minions", []string{"below"}))
		m.returns(jid1, "below", true)
		return published(jid1)
	})
	opt := m.options()
	opt.OrderMasters = true
	opt.SyndicWait = 30 * time.Millisecond
	r := startRun(t, m.client(opt), Job{Tgt: "*", Fun: "test.ping"})
	if got := m.load(); !got.Has("to") {
		t.Errorf("load without to: %v", got)
	}
	expectReturns(t, r, Return{ID: "below", Value: true})
}

func TestRunErrorEvent(t *testing.T) {
	var m *fakeMaster
	m = newFakeMaster(t, func(*payload.Map) any {
		m.fire("salt/job/"+jid1+"/error", payload.M("error", "no"))
		return published(jid1, "a")
	})
	_, err := collect(testContext(t), startRun(t, m.client(m.options()), Job{Tgt: "*", Fun: "test.ping"}))
	if !errors.Is(err, ErrAuthorization) {
		t.Errorf("got %v, want ErrAuthorization", err)
	}
}

func TestRunCancelled(t *testing.T) {
	asked := make(chan struct{}, 10)
	m := newFakeMaster(t, func(load *payload.Map) any {
		if load.Value("fun") == "saltutil.find_job" {
			asked <- struct{}{}
			return silent{}
		}
		return published(jid1, "a")
	})
	r := startRun(t, m.client(m.options()), Job{Tgt: "*", Fun: "test.ping"})
	hurry(r)
	interrupt := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		<-asked // while find_job is being published
		cancel(interrupt)
	}()
	if _, err := collect(ctx, r); !errors.Is(err, interrupt) {
		t.Errorf("got %v, want the cause", err)
	}
}

// TestRunAbandoned: no goroutine remains (goleak) if a reader stops early, or never starts.
func TestRunAbandoned(t *testing.T) {
	var m *fakeMaster
	m = newFakeMaster(t, func(*payload.Map) any {
		m.returns(jid1, "a", true)
		return published(jid1, "a", "b")
	})
	c := m.client(m.options())
	for range startRun(t, c, Job{Tgt: "*", Fun: "test.ping"}).Returns(testContext(t)) {
		break
	}
	startRun(t, c, Job{Tgt: "*", Fun: "test.ping"}).Close()
}

// TestRunBusRestarts: the bus goes away and comes back while a job runs. The run sees the returns after that.
func TestRunBusRestarts(t *testing.T) {
	m := newFakeMaster(t, func(load *payload.Map) any { return published(jid1, "a", "b") })
	r := startRun(t, m.client(m.options()), Job{Tgt: "*", Fun: "test.ping"})
	m.returns(jid1, "a", 1)
	go func() {
		m.hangUp()
		for { // until the client is back
			m.mu.Lock()
			back := len(m.subs) > 0
			m.mu.Unlock()
			if back {
				break
			}
			<-time.After(time.Millisecond)
		}
		m.returns(jid1, "b", 2)
	}()
	expectReturns(t, r, Return{ID: "a", Value: int64(1)}, Return{ID: "b", Value: int64(2)})
}

// TestRunsOfOneJob: of several publications under one jid, each waits for its own minions, and all share one
// subscription.
func TestRunsOfOneJob(t *testing.T) {
	var m *fakeMaster
	m = newFakeMaster(t, func(load *payload.Map) any {
		id, _ := load.List("tgt")[0].(string)
		// Events about the others come before and after the client knows that this job is published.
		m.fire("salt/job/"+jid1+"/new", payload.M("jid", jid1, "minions", []string{"a", "b", "c"}))
		m.returns(jid1, "c", "of another turn")
		return published(jid1, id)
	})
	c := m.client(m.options())
	var runs []*Run
	for _, id := range []string{"a", "b"} {
		others := func(other string) bool { return other != id }
		runs = append(runs, startRun(t, c, Job{Tgt: []string{id}, TgtType: "list", Fun: "test.ping", JID: jid1,
			Others: others}))
	}
	m.mu.Lock()
	if len(m.subs) != 1 {
		t.Errorf("%d subscriptions", len(m.subs))
	}
	m.mu.Unlock()
	m.returns(jid1, "a", 1)
	m.returns(jid1, "b", 2)
	expectReturns(t, runs[0], Return{ID: "a", Value: int64(1)})
	expectReturns(t, runs[1], Return{ID: "b", Value: int64(2)})
	if r := startRun(t, c, Job{Tgt: []string{"a"}, TgtType: "list", Fun: "test.ping"}); len(r.Minions) != 1 {
		// joins again
		t.Errorf("got %+v", r.Published)
	} else {
		r.Close()
	}
}
