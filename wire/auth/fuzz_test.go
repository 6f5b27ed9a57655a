package auth

import (
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

// FuzzOpenRequest gives a master frames that any peer can send, and loads that an accepted minion can seal.
func FuzzOpenRequest(f *testing.F) {
	for _, e := range requests(f) {
		f.Add(e.Request.Frame, marshal(f, e.Request.Plain), true)
		f.Add(e.Request.Frame, marshal(f, e.Request.Plain), false)
	}
	c := acceptedAt(f, func(o *MasterOptions) { o.MinimumAuthVersion = 0; o.RequestServerTTL = 1 })
	session, err := crypt.NewBox(c.at.sessions.key["m1"])
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, frame, load []byte, v3 bool) {
		if req, err := payload.DecodeRequest(frame); err == nil {
			serve(t, c, req)
		}
		req := &payload.Request{Enc: payload.EncAES, Version: 2, Load: c.at.shared.Load().box.Seal(load, "")}
		if v3 {
			req = &payload.Request{Enc: payload.EncAES, Version: 3, ID: "m1", Load: session.Seal(load, "")}
		}
		serve(t, c, req)
	})
}

// serve runs a request as far as this package does, and checks the rules that hold for all.
func serve(t *testing.T, c craft, req *payload.Request) {
	o, refuse := c.at.OpenRequest(req, testTime)
	if (o == nil) == (refuse == nil) {
		t.Fatal("both or none")
	}
	if o == nil {
		if _, ok := unmarshal(t, refuse).(string); !ok {
			t.Fatalf("refused with %x", refuse)
		}
		return
	}
	if o.Version == 3 && !o.Clear && (o.ID != "m1" || !o.TokenOK) {
		t.Fatalf("served %q without a token", o.ID)
	}
	unmarshal(t, o.Seal([]byte{0xc0}))
	if _, err := c.at.VerifyReturn(o); err != nil {
		t.Fatal(err)
	}
	if o.Cmd == payload.CmdPillar {
		if _, err := c.at.PillarReply(o, o.Load); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzHandle gives a master loads of sign-ins.
func FuzzHandle(f *testing.F) {
	for _, e := range signIns(f) {
		f.Add(marshal(f, e.Request.Decoded.(*payload.Map).Value("load")), 3, true)
		f.Add(marshal(f, e.Request.Decoded.(*payload.Map).Value("load")), 1, false)
	}
	f.Fuzz(func(t *testing.T, raw []byte, version int, accept bool) {
		load, err := payload.Unmarshal(raw)
		if err != nil {
			return
		}
		at := newMaster(t, func(o *MasterOptions) { o.MinimumAuthVersion = 0; o.Rules.AcceptAll = accept })
		reply, out := at.Handle(&payload.Request{Enc: payload.EncClear, Version: version, Load: load}, testTime)
		switch v := unmarshal(t, reply).(type) {
		case string:
		case *payload.Map:
			if !v.Has("enc") {
				t.Fatalf("reply %v", v)
			}
		default:
			t.Fatalf("reply %v", v)
		}
		if _, err := payload.MarshalBin(out.Event(true)); err != nil {
			t.Fatal(err)
		}
		for id, state := range at.keys.state {
			if !ValidID(id) || (at.sessions.key[id] != "" && state != StateAccepted) {
				t.Fatalf("stored %q as %s", id, state)
			}
		}
	})
}

// FuzzReply gives a minion replies to a sign-in: raw ones, and ones signed by the trusted master.
func FuzzReply(f *testing.F) {
	keys := keysOf(f)
	for _, e := range signIns(f) {
		if e.Reply == nil {
			continue
		}
		f.Add(e.Reply.Frame, false)
		if m, ok := unmarshal(f, e.Reply.Frame).(*payload.Map); ok {
			f.Add(m.Bytes("load"), true)
		}
	}
	master := keys.private("master")
	fresh, _ := newMinion(f, nil)
	opt := fresh.opt
	f.Fuzz(func(t *testing.T, frame []byte, signed bool) {
		trust := &memTrust{master: keys.pub("master")}
		opt.Trust = trust
		m := &Minion{opt: opt, pub: fresh.pub, tok: fresh.tok, token: fresh.token}
		m.pending = &signIn{nonce: "n", masterKey: trust.master}
		if signed {
			load := frame
			if inner, err := payload.UnmarshalMap(load); err == nil {
				load = marshal(t, inner.Set("nonce", "n"))
			}
			sig, err := master.Sign(opt.SigAlgo, load)
			if err != nil {
				t.Fatal(err)
			}
			frame = marshal(t, payload.M("enc", "clear", "load", load, "sig", sig))
		}
		step := m.Reply(frame)
		if step.Verdict < Accepted || step.Verdict > Fatal || m.SignedIn() != (step.Verdict == Accepted) {
			t.Fatalf("%+v", step)
		}
		if !signed && step.Verdict != Failed {
			t.Fatalf("an unsigned reply, or one with another nonce, gives %+v", step)
		}
	})
}

// FuzzOpenPublication gives a minion frames from the publish port, replies and pillars, raw and sealed.
func FuzzOpenPublication(f *testing.F) {
	for _, p := range publications(f) {
		f.Add(p.Payload())
		f.Add(marshal(f, p.Load))
	}
	for _, e := range requests(f) {
		if e.Reply != nil && (e.Reply.Encrypted || e.Reply.PillarKey != "") {
			f.Add(e.Reply.Frame)
		}
	}
	file := wiretest.Load(f, "crypticle")
	m, _ := newMinion(f, nil)
	signedInto(f, m, file.Doc.Str("key_string"), 3)
	nonce := newNonce()
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = m.OpenPublication(data)
		_, _ = m.Open(data, nonce)
		_, _ = m.OpenPillar(data, nonce)
		p := payload.Publication{Enc: payload.EncAES, Load: m.creds.shared.Seal(data, "")}
		frame, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if load, err := m.OpenPublication(frame); err == nil && load.Has("serial") {
			t.Fatalf("serial left in %v", load)
		}
		_, _ = m.Open(marshal(t, m.creds.session.Seal(data, nonce)), nonce)
	})
}
