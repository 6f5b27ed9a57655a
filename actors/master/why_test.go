package master

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/auth"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// why is the reason for the silence of one minion.
func (r *rig) why(jid, id string) *payload.Map {
	r.t.Helper()
	got, err := r.m.Why(testContext(r.t), jid, id)
	if err != nil {
		r.t.Fatalf("why %s %s: %v", jid, id, err)
	}
	reasons := got.List("reasons")
	if len(reasons) != 1 {
		r.t.Fatalf("why %s %s: %v", jid, id, got)
	}
	one, _ := reasons[0].(*payload.Map)
	return one
}

func (r *rig) wantWhy(jid, id string, code ledger.Code, text string) {
	r.t.Helper()
	if got := r.why(jid, id); got.Str("code") != string(code) || !strings.Contains(got.Str("text"), text) {
		r.t.Errorf("%s: got [%s] %s, want [%s] ... %s", id, got.Str("code"), got.Str("text"), code, text)
	}
}

// awaitHop waits until a hop of a job is known: facts come from several actors.
func (r *rig) awaitHop(jid, name, id string) *payload.Map {
	r.t.Helper()
	var hop *payload.Map
	r.eventually("hop "+name, func() error {
		got, err := r.m.Trace(testContext(r.t), jid, "")
		if err != nil {
			return err
		}
		for _, v := range got.List("hops") {
			h, _ := v.(*payload.Map)
			if h.Str("hop") == name && h.Str("minion") == id && h.Value("at") != nil {
				hop = h
				return nil
			}
		}
		return fmt.Errorf("hops %v", got.List("hops"))
	})
	return hop
}

// subscribe is the publish side of a minion that names itself, until the function that comes back is called.
func (r *rig) subscribe(topics ...string) (end func()) {
	r.t.Helper()
	ctx, stop := newContext(r.t)
	ended := make(chan struct{})
	sub := zmq.NewSub(zmq.SubOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", r.cfg.PublishPort, "", 0),
		Topics: topics, Context: r.zctx})
	go func() {
		defer close(ended)
		_ = sub.Serve(ctx, func([]byte) {})
	}()
	end = func() { stop(); <-ended }
	r.t.Cleanup(end)
	return end
}

func (r *rig) awaitLink(id string, want ledger.State) {
	r.t.Helper()
	r.eventually("connection of "+id, func() error {
		if got := r.m.core.book.Peers.At(id, ledger.At(time.Now())); got != want {
			return fmt.Errorf("connected: %v, want %v", got, want)
		}
		return nil
	})
}

func TestTrace(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	r.accept("m2", "minion")
	jid := r.publish(payload.M("tgt", "m1,m2,nobody", "tgt_type", "list"))
	m.ask(ret("m1", jid))
	for _, name := range []string{"request", "worker", "target", "announce", "seal", "publish", "reply", "save"} {
		r.awaitHop(jid, name, "")
	}
	for _, name := range []string{"arrive", "event", "store"} {
		r.awaitHop(jid, name, "m1")
	}
	got, err := r.m.Trace(testContext(t), jid, "m2")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "missing", got.Value("missing"), []any{"m2: receive"})
	for k, want := range map[string]any{"jid": jid, "fun": "test.ping", "tgt_type": "list", "user": userName(),
		"minions": 2, "returned": 1, "silent": 2} {
		equal(t, k, got.Value(k), want)
	}
	if _, err := r.m.Trace(testContext(t), "20200101000000000000", ""); err == nil {
		t.Error("traced a job that never was")
	}
}

// TestWhyByTheMaster: reasons that need no word of the minion.
func TestWhyByTheMaster(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	for id, st := range map[string]keys.Status{"gone": keys.Accepted, "pending": keys.Pending,
		"rejected": keys.Rejected, "denied": keys.Denied, "down": keys.Accepted} {
		if err := r.keyStore().Put(st, id, strings.TrimSpace(r.rsa["minion"].Public)); err != nil {
			t.Fatal(err)
		}
	}
	end := r.subscribe(m.link, "")
	r.awaitLink("m1", ledger.LinkUp)
	jid := r.publish(payload.M("tgt", "m1,gone,pending,rejected,denied,down,never", "tgt_type", "list"))
	r.awaitHop(jid, "publish", "")
	r.wantWhy(jid, "pending", ledger.KeyPending, "salt-key -a pending")
	r.wantWhy(jid, "rejected", ledger.KeyRejected, "rejected")
	r.wantWhy(jid, "denied", ledger.KeyDenied, "denied")
	r.wantWhy(jid, "never", ledger.KeyNone, "no key")
	r.wantWhy(jid, "down", ledger.NotConnected, "not connected when the job was sent")
	r.wantWhy(jid, "other", ledger.KeyNone, "no key")
	if _, err := r.keyStore().Remove(keys.Accepted, "gone"); err != nil {
		t.Fatal(err)
	}
	r.wantWhy(jid, "gone", ledger.KeyDeleted, "deleted since")
	m.ask(ret("m1", jid))
	r.wantWhy(jid, "m1", ledger.Returned, "it returned")
	equal(t, "gone", payload.AnyList(r.m.Gone(testContext(t), jid, []string{"m1", "down"})), []any{"down"})

	other := r.publish(payload.M("tgt", "m1"))
	r.awaitHop(other, "publish", "")
	r.wantWhy(other, "down", ledger.NotTargeted, "did not mean it")
	r.wantWhy(other, "m1", ledger.NoAnswer, "did not answer when asked")
	end()
	r.awaitLink("m1", ledger.LinkDown)
	r.wantWhy(other, "m1", ledger.ConnectionLost, "its connection was lost")
	r.wantWhy("20200101000000000000", "m1", ledger.Expired, "older than keep_jobs")
	r.wantWhy("nonsense", "m1", ledger.UnknownJob, "knows no job nonsense")
}

// TestGoneWithSyndics: with order_masters it is known as well who was connected here and is not any more. Who has never
// been may live below a syndic, whose connection does not say whose it is.
func TestGoneWithSyndics(t *testing.T) {
	r := newRig(t, "order_masters: True")
	for _, id := range []string{"m1", "below"} {
		r.accept(id, r.rsa["minion"].Public)
	}
	m := r.minion("m1")
	r.subscribe("") // a syndic of Salt
	end := r.subscribe(m.link, "")
	r.awaitLink("m1", ledger.LinkUp)
	end()
	r.awaitLink("m1", ledger.LinkDown)
	jid := r.publish(payload.M("tgt", "m1,below", "tgt_type", "list"))
	r.awaitHop(jid, "publish", "")
	equal(t, "gone", payload.AnyList(r.m.Gone(testContext(t), jid, []string{"m1", "below"})), []any{"m1"})
}

// TestWhyAfterRestart: what a master knew of its jobs is known to the next one.
func TestWhyAfterRestart(t *testing.T) {
	for _, conf := range []string{"chaos: False", "master_job_cache: local_cache"} {
		t.Run(conf, func(t *testing.T) { whyAfterRestart(t, newRig(t, conf)) })
	}
}

func whyAfterRestart(t *testing.T, r *rig) {
	t.Helper()
	m := r.minion("m1")
	r.accept("down", "minion")
	r.subscribe(m.link, "")
	r.awaitLink("m1", ledger.LinkUp)
	jid := r.publish(payload.M("tgt", "m1,down,nobody", "tgt_type", "list"))
	r.awaitHop(jid, "publish", "")
	m.ask(ret("m1", jid))
	r.stop()
	r.start()
	r.wantWhy(jid, "m1", ledger.Returned, "it returned")
	r.wantWhy(jid, "down", ledger.NotConnected, "not connected when the job was sent")
	r.wantWhy(jid, "nobody", ledger.KeyNone, "no key")
	for _, name := range []string{"request", "publish", "save"} {
		r.awaitHop(jid, name, "")
	}
	for _, name := range []string{"arrive", "event", "store"} {
		r.awaitHop(jid, name, "m1")
	}
}

// TestFindJobIsAFact: what Salt's minions say to find_job is known of the job it was about.
func TestFindJobIsAFact(t *testing.T) {
	r := newRig(t)
	a, b := r.minion("a"), r.minion("b")
	r.subscribe("") // somebody of Salt's
	r.eventually("a subscriber", func() error {
		if r.m.core.book.Peers.At("a", ledger.At(time.Now())) == ledger.LinkUnknown {
			return nil
		}
		return fmt.Errorf("nobody")
	})
	jid := r.publish(payload.M("tgt", "*"))
	find := r.publish(payload.M("tgt", "*", "fun", "saltutil.find_job", "arg", []any{jid}))
	a.ask(ret("a", find, "fun", "saltutil.find_job", "return", payload.M("jid", jid, "fun", "test.sleep")))
	b.ask(ret("b", find, "fun", "saltutil.find_job", "return", payload.NewMap(0)))
	r.wantWhy(jid, "a", ledger.JobRunning, "still running the job")
	r.wantWhy(jid, "b", ledger.NotRunning, "does not run the job")
}

// TestWhyRefused: requests and returns that the master turns away.
func TestWhyRefused(t *testing.T) {
	r := newRig(t, "require_minion_sign_messages: True", "drop_messages_signature_fail: True", "request_server_ttl: 30")
	m := r.minion("m1")
	jid := r.publish(payload.M("tgt", "m1"))
	r.awaitHop(jid, "publish", "")
	equal(t, "unsigned return", m.ask(ret("m1", jid)), false)
	r.wantWhy(jid, "m1", ledger.RefusedSign, "was refused")

	late := r.newMinion("m1", oldClock)
	if step := late.signIn(); step.ExitCode != 0 {
		t.Fatalf("sign-in: %+v", step)
	}
	other := r.publish(payload.M("tgt", "m1"))
	r.awaitHop(other, "publish", "")
	if _, err := late.try(ret("m1", other)); err == nil {
		t.Fatal("a request of an hour ago was taken")
	}
	r.wantWhy(other, "m1", ledger.RefusedClock, "request_server_ttl")
}

// TestFactsOfMinions: what a brine minion adds to its requests is known here and seen by nobody else.
func TestFactsOfMinions(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1")
	r.subscribe(m.link, "")
	r.awaitLink("m1", ledger.LinkUp)
	ear := r.hear()
	jid := r.publish(payload.M("tgt", "m1"))
	r.awaitHop(jid, "publish", "")
	now := time.Now()
	facts := &ledger.Minion{Received: ledger.At(now), Started: ledger.At(now), Now: ledger.At(now)}
	tell := func(jid string) any {
		return m.ask(payload.M("cmd", payload.CmdBrineFacts, "id", "m1", "jobs", payload.M(jid, facts.Pack())))
	}
	equal(t, "answer", tell(jid), true)
	r.awaitHop(jid, "start", "m1")
	r.wantWhy(jid, "m1", ledger.NoAnswer, "it has been running the job since") // and nobody answers for it
	equal(t, "of a job that nobody knows", tell("20200101000000000000"), true)
	if r.m.core.book.Knows("20200101000000000000") {
		t.Error("a minion made a job known")
	}
	facts.Ended, facts.Made, facts.Outcome, facts.Detail = ledger.At(now), ledger.At(now), ledger.Killed, "signal 9"
	m.ask(ret("m1", jid).Set(ledger.Field, facts.Pack()))
	for _, k := range []any{ear.await("salt/job/" + jid + "/ret/m1").Value(ledger.Field),
		r.stored(jid).Map("m1").Value(ledger.Field)} {
		if k != nil {
			t.Errorf("shown: %v", k)
		}
	}
	r.wantWhy(jid, "m1", ledger.JobKilled, "signal 9")
	for _, bad := range []any{"text", int64(1), payload.M("received", "x", "size", "y"), nil} {
		other := r.publish(payload.M("tgt", "m1"))
		m.ask(ret("m1", other).Set(ledger.Field, bad))
		r.wantWhy(other, "m1", ledger.Returned, "it returned")
	}
}

// TestStanding: the master tells who cannot have a job, who has returned it, and who has said that it runs and is
// there.
func TestStanding(t *testing.T) {
	r := newRig(t)
	ids := []string{"m1", "m2", "m3", "m4"}
	ms := map[string]*testMinion{}
	for _, id := range ids {
		ms[id] = r.minion(id)
	}
	for _, id := range ids[:3] {
		r.subscribe(ms[id].link, "")
		r.awaitLink(id, ledger.LinkUp)
	}
	jid := r.publish(payload.M("tgt", "*"))
	r.awaitHop(jid, "publish", "")
	ms["m1"].ask(ret("m1", jid))
	now := ledger.At(time.Now())
	for _, id := range []string{"m2", "m4"} { // one of them is not connected
		facts := &ledger.Minion{Received: now, Started: now, Now: now}
		ms[id].ask(payload.M("cmd", payload.CmdBrineFacts, "id", id, "jobs", payload.M(jid, facts.Pack())))
	}
	got := r.m.Standing(testContext(t), jid, ids)
	equal(t, "returned", got.Returned, []string{"m1"})
	equal(t, "running", got.Running, []string{"m2"})
	got = r.m.Standing(testContext(t), "20200101000000000000", ids)
	equal(t, "of an unknown job", len(got.Gone)+len(got.Returned)+len(got.Running), 0)
}

// TestClockOfAMinion: a clock that is off is said, and does not put the hops in disorder.
func TestClockOfAMinion(t *testing.T) {
	r := newRig(t)
	m := r.minion("m1", oldClock)
	jid := r.publish(payload.M("tgt", "m1"))
	then := ledger.At(time.Now().Add(-time.Hour))
	m.ask(ret("m1", jid).Set(ledger.Field, (&ledger.Minion{Received: then, Started: then, Ended: then, Made: then,
		Now: then, Outcome: ledger.Done}).Pack()))
	r.wantWhy(jid, "m1", ledger.Returned, "Its clock is off by 3600 s (behind)")
	arrive, _ := r.awaitHop(jid, "arrive", "m1").Int("at")
	received, _ := r.awaitHop(jid, "receive", "m1").Int("at")
	if off := time.Duration(arrive-received) * time.Microsecond; off < 0 || off > time.Minute {
		t.Errorf("received %v before it arrived", off)
	}
}

// answering is a minion that is connected and answers questions about jobs with what facts makes.
func (r *rig) answering(id string, facts func(jid string) any, change ...func(*auth.MinionOptions)) {
	r.t.Helper()
	m := r.minion(id, change...)
	ctx, stop := newContext(r.t)
	ended := make(chan struct{})
	sub := zmq.NewSub(zmq.SubOptions{Endpoint: zmq.ConnectEndpoint("127.0.0.1", r.cfg.PublishPort, "", 0),
		Topics: []string{m.link, ""}, Context: r.zctx})
	go func() {
		defer close(ended)
		_ = sub.Serve(ctx, func(frame []byte) {
			load, err := m.OpenPublication(frame)
			if err != nil || load.Str("fun") != "brine.job" {
				return
			}
			about, _ := load.List("arg")[0].(string)
			if v := facts(about); v != nil {
				m.ask(ret(id, load.Str("jid"), "fun", "brine.job", "return", v))
			}
		})
	}()
	r.t.Cleanup(func() { stop(); <-ended })
	r.awaitLink(id, ledger.LinkUp)
}

// TestWhyAsks: where the master's facts do not tell, the minion is asked, and nobody else hears of it.
func TestWhyAsks(t *testing.T) {
	r := newRig(t)
	hour := ledger.Stamp(time.Hour / time.Microsecond)
	now := func() ledger.Stamp { return ledger.At(time.Now()) }
	r.answering("unknown", func(string) any { return (&ledger.Minion{Outcome: ledger.Unknown, Now: now()}).Map() })
	r.answering("unopened", func(string) any {
		return (&ledger.Minion{Outcome: ledger.Unknown, Now: now()}).Map().Set("refused",
			[]any{[]any{int64(now()), "bad signature", "unopened"}, "odd", []any{}})
	})
	r.answering("early", func(string) any {
		return (&ledger.Minion{Outcome: ledger.Unknown, Now: now()}).Map().Set("refused",
			[]any{[]any{int64(now()), "no pillar", "not_ready"}})
	})
	r.answering("before", func(string) any {
		return (&ledger.Minion{Outcome: ledger.Unknown, Now: now()}).Map().Set("refused",
			[]any{[]any{int64(now() - hour), "bad signature", "unopened"}})
	})
	r.answering("running", func(string) any {
		return (&ledger.Minion{Received: now() - hour, Started: now() - hour, Now: now() - hour}).Map()
	}, oldClock)
	r.answering("old", func(string) any { return "'brine.job' is not available." })
	r.answering("mute", func(string) any { return nil })
	ear := r.hear()
	jid := r.publish(payload.M("tgt", "*"))
	r.awaitHop(jid, "publish", "")
	got, err := r.m.Why(testContext(t), jid)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]string{}
	for _, v := range got.List("reasons") {
		one, _ := v.(*payload.Map)
		codes[one.Str("minion")] = one.Str("code")
		if one.Str("minion") == "running" && !strings.Contains(one.Str("text"), "off by 3600 s (behind)") {
			t.Errorf("running: %s", one.Str("text"))
		}
	}
	for id, want := range map[string]ledger.Code{"unknown": ledger.NeverReceived, "unopened": ledger.JobUnopened,
		"early": ledger.JobNotReady, "before": ledger.NeverReceived, "running": ledger.JobRunning,
		"old": ledger.UnknownCause, "mute": ledger.NoAnswer} {
		if codes[id] != string(want) {
			t.Errorf("%s: got %s, want %s", id, codes[id], want)
		}
	}
	r.m.Fire("test/end", payload.NewMap(0))
	for _, tag := range ear.until("test/end") {
		if !strings.Contains(tag, jid) {
			t.Errorf("event %s", tag)
		}
	}
	if loads, err := r.m.core.jobs.store.Loads(); err != nil || loads.Len() > 1 {
		t.Errorf("stored %v, %v", loads, err)
	}
}

// BenchmarkWhy asks about a job of 10,000 minions that are all silent, and about one of them.
func BenchmarkWhy(b *testing.B) {
	r := newSite(b)
	for i := range 10_000 {
		r.writeFile(filepath.Join(r.cfg.PKIDir, string(keys.Accepted), fmt.Sprintf("m%05d", i)), r.rsa["minion"].Public,
			0o600)
	}
	r.start()
	jid := r.publish(payload.M("tgt", "*"))
	r.awaitHop(jid, "publish", "")
	for _, ids := range [][]string{nil, {"m00001"}} {
		b.Run("minions="+strings.Join(ids, ","), func(b *testing.B) {
			for b.Loop() {
				if _, err := r.m.Why(context.Background(), jid, ids...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
