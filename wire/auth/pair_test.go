package auth

import (
	"errors"
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// signInAt runs one sign-in of our minion with our master.
func signInAt(t testing.TB, m *Minion, at masterRig) (Step, Outcome) {
	t.Helper()
	frame, err := m.Request()
	if err != nil {
		t.Fatal(err)
	}
	req := decodeRequest(t, frame)
	if !IsSignIn(req) {
		t.Fatal("IsSignIn is false for a sign-in")
	}
	reply, out := at.Handle(req, testTime)
	return m.Reply(reply), out
}

// ask sends one request of our minion to our master, which answers with the received load.
func ask(t testing.TB, m *Minion, at masterRig, load *payload.Map) (any, error) {
	t.Helper()
	frame, nonce, err := m.Seal(load)
	if err != nil {
		t.Fatal(err)
	}
	o, refuse := at.OpenRequest(decodeRequest(t, frame), testTime)
	if refuse != nil {
		return m.Open(refuse, nonce)
	}
	return m.Open(o.Seal(marshal(t, o.Load)), nonce)
}

func TestPairFromFirstSignInToRevocation(t *testing.T) {
	at := newMaster(t, nil)
	m, trust := newMinion(t, nil)
	if _, _, err := m.Seal(payload.M("cmd", "x")); !errors.Is(err, ErrNotSignedIn) {
		t.Fatalf("Seal before sign-in: %v", err)
	}
	step, out := signInAt(t, m, at)
	if step.Verdict != Pending || step.Wait == 0 || out.Act != ActPend || at.keys.state["m1"] != StatePending {
		t.Fatalf("first sign-in: %+v, %+v", step, out)
	}
	if at.sessions.len() != 0 || trust.master != "" {
		t.Fatal("a pending key got a session, or its minion trusts the master")
	}
	if err := at.keys.Put("m1", StateAccepted, at.keys.pub["m1"]); err != nil {
		t.Fatal(err)
	}
	step, out = signInAt(t, m, at)
	if step.Verdict != Accepted || step.Version != 3 || step.PublishPort != 4505 || !step.NewKey || !step.NewMaster ||
		!step.Brine {
		t.Fatalf("accepted sign-in: %+v", step)
	}
	if !out.Result || out.Act != ActAccept || !out.Session {
		t.Fatalf("accepted sign-in: %+v", out)
	}
	step, out = signInAt(t, m, at) // with a token
	if step.Verdict != Accepted || step.NewKey || step.NewMaster || out.Session {
		t.Fatalf("second sign-in: %+v, %+v", step, out)
	}

	got, err := ask(t, m, at, payload.M("cmd", "_mine", "data", "d"))
	want := payload.M("cmd", "_mine", "data", "d", "ts", testTime.Unix(), "id", "m1")
	if err != nil || !payload.Equal(got, want) {
		t.Fatalf("request: got %v, %v", got, err)
	}
	at.keys.remove("m1")
	if _, err := ask(t, m, at, payload.M("cmd", "_mine")); !errors.Is(err, ErrReauth) {
		t.Fatalf("request after the key was deleted: %v", err)
	}
	before := at.sessions.key["m1"]
	step, _ = signInAt(t, m, at)
	if step.Verdict != Pending || at.sessions.len() != 0 {
		t.Fatalf("sign-in after the key was deleted: %+v, %d sessions", step, at.sessions.len())
	}
	if err := at.keys.Put("m1", StateAccepted, at.keys.pub["m1"]); err != nil {
		t.Fatal(err)
	}
	if step, _ = signInAt(t, m, at); step.Verdict != Accepted || at.sessions.key["m1"] == before {
		t.Fatalf("sign-in after the key came back: %+v, or the old session", step)
	}
}

func TestPairRotation(t *testing.T) {
	at := newMaster(t, func(o *MasterOptions) { o.Rules.AcceptAll = true })
	m, _ := newMinion(t, func(o *MinionOptions) { o.SignPubMessages = true })
	if step, _ := signInAt(t, m, at); step.Verdict != Accepted {
		t.Fatalf("%+v", step)
	}
	publish := func() []byte {
		t.Helper()
		frame, err := at.SealPublication(payload.M("fun", "test.ping", "serial", 99))
		if err != nil {
			t.Fatal(err)
		}
		return frame
	}
	first := publish()
	if load, err := m.OpenPublication(first); err != nil || !load.Equal(payload.M("fun", "test.ping")) {
		t.Fatalf("first publication: %v, %v", load, err)
	}
	if _, err := m.OpenPublication(first); !errors.Is(err, ErrIgnore) {
		t.Fatalf("repeated publication: %v", err)
	}
	session := at.sessions.key["m1"]
	if err := at.Rotate(); err != nil {
		t.Fatal(err)
	}
	second := publish()
	if _, err := m.OpenPublication(second); !errors.Is(err, ErrReauth) {
		t.Fatalf("publication after the rotation: %v", err)
	}
	if _, err := ask(t, m, at, payload.M("cmd", "_mine")); err != nil {
		t.Fatalf("request after the rotation: %v", err)
	}
	step, _ := signInAt(t, m, at)
	if step.Verdict != Accepted || !step.NewKey || at.sessions.key["m1"] != session {
		t.Fatalf("sign-in after the rotation: %+v, or another session", step)
	}
	if _, err := m.OpenPublication(second); err != nil {
		t.Fatalf("the publication once more: %v", err)
	}
}

// TestPairSigned: after a master has said that it signs, its minion accepts only signed publications, whatever its own
// configuration says. When the master no longer signs, which comes with a new key, the minion signs in again.
func TestPairSigned(t *testing.T) {
	at := newMaster(t, func(o *MasterOptions) { o.Rules.AcceptAll = true })
	m, _ := newMinion(t, nil)
	signInAt(t, m, at)
	publish := func(change func(*payload.Publication)) []byte {
		t.Helper()
		frame, err := at.SealPublication(payload.M("fun", "test.ping"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := payload.DecodePublication(frame)
		if err != nil {
			t.Fatal(err)
		}
		change(p)
		if frame, err = p.Encode(); err != nil {
			t.Fatal(err)
		}
		return frame
	}
	for name, change := range map[string]func(*payload.Publication){
		"not signed":         func(p *payload.Publication) { p.Sig, p.SigAlgo = nil, "" },
		"another signature":  func(p *payload.Publication) { p.Sig[9] ^= 1 },
		"an empty signature": func(p *payload.Publication) { p.Sig = []byte{} },
		"an odd algorithm":   func(p *payload.Publication) { p.SigAlgo = "none" },
	} {
		if load, err := m.OpenPublication(publish(change)); !errors.Is(err, crypt.ErrBadSignature) {
			t.Errorf("%s: %v, %v", name, load, err)
		}
	}
	if _, err := m.OpenPublication(publish(func(*payload.Publication) {})); err != nil {
		t.Errorf("as the master made it: %v", err)
	}
	at.opt.SignPublications = false
	if err := at.Rotate(); err != nil {
		t.Fatal(err)
	}
	unsigned := publish(func(*payload.Publication) {})
	if _, err := m.OpenPublication(unsigned); !errors.Is(err, ErrReauth) {
		t.Errorf("from a master that signs no more: %v", err)
	}
	signInAt(t, m, at)
	if _, err := m.OpenPublication(unsigned); err != nil {
		t.Errorf("after a sign-in: %v", err)
	}
}

func TestPairPillar(t *testing.T) {
	at := newMaster(t, func(o *MasterOptions) { o.Rules.AcceptAll = true })
	for _, algos := range [][2]string{{"", ""}, {crypt.OAEPSHA224, crypt.PKCS1v15SHA224}} {
		m, _ := newMinion(t, func(o *MinionOptions) { o.EncAlgo, o.SigAlgo = algos[0], algos[1] })
		if step, _ := signInAt(t, m, at); step.Verdict != Accepted {
			t.Fatalf("%+v", step)
		}
		frame, nonce, err := m.Seal(payload.M("id", "m1", "cmd", payload.CmdPillar))
		if err != nil {
			t.Fatal(err)
		}
		o, refuse := at.OpenRequest(decodeRequest(t, frame), testTime)
		if refuse != nil {
			t.Fatalf("refused: %q", refuse)
		}
		pillar := payload.M("secret", "s", "n", 5)
		reply, err := at.PillarReply(o, pillar)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.OpenPillar(reply, nonce); err != nil || !got.Equal(pillar) {
			t.Errorf("pillar: got %v, %v", got, err)
		}
		if _, err := m.OpenPillar(reply, newNonce()); !errors.Is(err, crypt.ErrBadNonce) {
			t.Errorf("pillar for another request: %v", err)
		}
		if _, err := m.Open(reply, nonce); !errors.Is(err, ErrBadReply) {
			t.Errorf("pillar read as a plain reply: %v", err)
		}
		at.keys.remove("m1")
		reply, err = at.PillarReply(o, pillar)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.OpenPillar(reply, nonce); !errors.Is(err, ErrReauth) {
			t.Errorf("pillar for a deleted key: %v", err)
		}
	}
}
