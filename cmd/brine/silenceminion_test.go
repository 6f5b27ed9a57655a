package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"brine/modules/execution/brine"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/auth"
	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/zmq"
)

// scripted is a minion inside this process that acts as a case needs: like a minion of Salt, with a wrong
// clock, or in a state that is hard to create otherwise.
type scripted struct {
	*auth.Minion
	s  *silentSite
	id string
	q  *zmq.Req

	mu    sync.Mutex
	facts *ledger.Minion // its answer to questions about any job; nil: no answer
}

// script makes a scripted minion with an accepted key. It is neither signed in nor connected.
func (s *silentSite) script(t *testing.T, id string, change ...func(*auth.MinionOptions)) *scripted {
	t.Helper()
	s.put(keys.Accepted, id)
	key, err := crypt.ParsePrivateKey([]byte(s.rsa["minion"].Private), "")
	if err != nil {
		t.Fatal(err)
	}
	opt := auth.MinionOptions{ID: id, Key: key, Trust: &noTrust{}, SignMessages: true}
	for _, f := range change {
		f(&opt)
	}
	m, err := auth.NewMinion(opt)
	if err != nil {
		t.Fatal(err)
	}
	q := zmq.NewReq(zmq.ReqOptions{Endpoint: fmt.Sprintf("tcp://127.0.0.1:%d", s.ret), Context: s.zctx})
	t.Cleanup(func() { _ = q.Close() })
	return &scripted{Minion: m, s: s, id: id, q: q}
}

// noTrust is a TrustStore that forgets.
type noTrust struct{ key string }

func (n *noTrust) MasterKey() (string, error)    { return n.key, nil }
func (n *noTrust) SetMasterKey(pub string) error { n.key = pub; return nil }
func (n *noTrust) TakeMasterKey(pub string) (string, error) {
	if n.key == "" {
		n.key = pub
	}
	return n.key, nil
}
func (n *noTrust) SigningKey() (string, error) { return "", nil }

func (m *scripted) do(frame []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), silentPatience)
	defer cancel()
	return m.q.Do(ctx, frame)
}

func (m *scripted) signIn(t *testing.T) auth.Step {
	t.Helper()
	frame, err := m.Request()
	if err != nil {
		t.Fatal(err)
	}
	reply, err := m.do(frame)
	if err != nil {
		t.Fatal(err)
	}
	return m.Reply(reply)
}

// up signs in and connects. named means that the minion tells its name, as brine's minions do and Salt's do
// not.
func (m *scripted) up(t *testing.T, named bool) *scripted {
	t.Helper()
	step := m.signIn(t)
	if step.Verdict != auth.Accepted || !step.Brine {
		t.Fatalf("sign-in of %s: %+v", m.id, step)
	}
	topics := []string{""}
	if named {
		topics = append(topics, step.Link)
	} else {
		m.s.connected(t, "no", "nobody") // no other unnamed minion is connected
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	sub := zmq.NewSub(zmq.SubOptions{Endpoint: fmt.Sprintf("tcp://127.0.0.1:%d", m.s.pub), Topics: topics,
		Context: m.s.zctx})
	go func() {
		defer close(ended)
		_ = sub.Serve(ctx, m.hear)
	}()
	t.Cleanup(func() { stop(); <-ended })
	if named {
		m.s.connected(t, "yes", m.id)
		return m
	}
	m.s.connected(t, "unknown", "nobody")
	return m
}

// hear answers questions about jobs.
func (m *scripted) hear(frame []byte) {
	load, err := m.OpenPublication(frame)
	if err != nil || load.Str("fun") != brine.Job {
		return
	}
	m.mu.Lock()
	facts := m.facts
	m.mu.Unlock()
	if facts == nil {
		return
	}
	said := *facts
	said.Now = ledger.At(time.Now())
	out := said.Map()
	if said.Outcome == ledger.Unopened || said.Outcome == ledger.OutcomeNotReady {
		// a real minion lists the publications that it could not open, in answer to a question about an unknown
		// job
		out = (&ledger.Minion{Outcome: ledger.Unknown, Now: said.Now}).Map().Set(ledger.FieldRefused,
			ledger.PackRefusals([]ledger.Refusal{{At: said.Now, Why: said.Detail, Outcome: said.Outcome}}))
	}
	_, _ = m.tell(payload.M("cmd", payload.CmdReturn, "id", m.id, "jid", load.Str("jid"), "fun", brine.Job,
		"fun_args", []any{}, "return", out, "retcode", int64(0), "success", true))
}

// tell sends a request. An error is the master's refusal.
func (m *scripted) tell(load *payload.Map) (any, error) {
	frame, nonce, err := m.Seal(load)
	if err != nil {
		return nil, err
	}
	reply, err := m.do(frame)
	if err != nil {
		return nil, err
	}
	return m.Open(reply, nonce)
}

// giveBack returns a job.
func (m *scripted) giveBack(jid, fun string, v any) (any, error) {
	return m.tell(payload.M("cmd", payload.CmdReturn, "id", m.id, "jid", jid, "fun", fun, "fun_args", []any{}, "return",
		v, "retcode", int64(0), "success", true))
}

// wrongClock makes a minion whose clock is off.
func wrongClock(by time.Duration) func(*auth.MinionOptions) {
	return func(o *auth.MinionOptions) { o.Now = func() time.Time { return time.Now().Add(by) } }
}

// unsigned makes a minion that does not sign what it sends.
func unsigned(o *auth.MinionOptions) { o.SignMessages = false }

// oldProtocol makes a minion that speaks the protocol without session keys.
func oldProtocol(o *auth.MinionOptions) { o.MaxVersion = 2 }
