package auth

import (
	"bytes"
	"encoding/hex"
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

// oursInstead are sign-ins that brine answers in its own way (spec: real masters never answer them, or 3006 misses the
// fault): the text, or the value under ret.
var oursInstead = map[string]string{
	"auth_no_nonce_v2":              payload.TextHandlerFailed,
	"auth_v3_no_nonce":              payload.TextHandlerFailed,
	"auth_v3_no_id":                 payload.TextHandlerFailed,
	"auth_v3_no_pub":                payload.TextHandlerFailed,
	"auth_bad_enc_algo":             "bad enc algo",
	"auth_bad_enc_algo_no_token":    "bad enc algo",
	"auth_v3_bad_enc_algo_no_token": "bad enc algo",
	"auth_bad_sig_algo":             "bad sig algo",
}

// signIns returns the recorded sign-ins of all files.
func signIns(t testing.TB) (list []wiretest.Exchange) {
	t.Helper()
	for _, f := range wiretest.LoadAll(t, wiretest.ExchangeFiles()...) {
		for _, e := range f.Exchanges() {
			if decoded, ok := e.Request.Decoded.(*payload.Map); ok &&
				decoded.Map("load").Str("cmd") == payload.CmdAuth {
				list = append(list, e)
			}
		}
	}
	if len(list) < 80 {
		t.Fatalf("only %d recorded sign-ins", len(list))
	}
	return list
}

// minimumVersion returns the option of the recorded master.
func minimumVersion(e wiretest.Exchange) int {
	if n, ok := e.Doc.Int("minimum_auth_version"); ok {
		return int(n)
	}
	if e.Release == "3006" || e.Release == "3007" {
		return 0
	}
	return 3
}

func loadOf(e wiretest.Exchange) *payload.Map { return e.Request.Decoded.(*payload.Map).Map("load") }

func algorithmOf(load *payload.Map, key, def string) string { return orDefault(load.Str(key), def) }

// replayed is a master that has handled the recorded sign-ins of one release so far.
func replayed(t *testing.T, rigs map[string]masterRig, e wiretest.Exchange) masterRig {
	t.Helper()
	name := e.File + e.Release
	if _, ok := rigs[name]; !ok {
		rigs[name] = newMaster(t, nil)
	}
	rig := rigs[name]
	rig.opt.MinimumAuthVersion = minimumVersion(e)
	rig.pubSigs.key = nil
	if e.Reply == nil {
		return rig
	}
	if e.Reply.SignedLoad.Has("pub_sig") {
		rig.pubSigs.key = keysOf(t).private("sign")
	}
	if e.Reply.AESPlain == "" {
		return rig
	}
	port, _ := firstMap(e.Reply.SignedLoad, e.Reply.Decoded).Int("publish_port")
	rig.opt.PublishPort = int(port)
	if err := rig.setShared(e.Reply.AESPlain); err != nil {
		t.Fatal(err)
	}
	if e.Reply.SessionPlain != "" {
		rig.sessions.key["m1"], rig.sessions.made["m1"], rig.sessions.pub["m1"] = e.Reply.SessionPlain, testTime,
			keysOf(t).pub("minion")
	}
	if err := rig.keys.Put("m1", StateAccepted, keysOf(t).pub("minion")); err != nil {
		t.Fatal(err)
	}
	return rig
}

func firstMap(m *payload.Map, v any) *payload.Map {
	if m != nil {
		return m
	}
	m, _ = v.(*payload.Map)
	return m
}

// TestMasterAnswersRecordedSignIns replays every recorded sign-in in order. Deterministic replies must have the
// recorded bytes, acceptances the recorded fields with the recorded content.
func TestMasterAnswersRecordedSignIns(t *testing.T) {
	rigs := map[string]masterRig{}
	for _, e := range signIns(t) {
		t.Run(e.File+"/"+e.Release+"/"+e.Name, func(t *testing.T) {
			rig := replayed(t, rigs, e)
			reply, _ := rig.Handle(decodeRequest(t, e.Request.Frame), testTime)
			if want, ok := oursInstead[e.Name]; ok {
				checkOurs(t, reply, want)
				return
			}
			if e.Reply == nil {
				t.Fatal("real masters do not answer this, and the test does not say what we do")
			}
			if e.Reply.AESPlain != "" {
				checkAcceptance(t, e, reply)
				return
			}
			if !bytes.Equal(reply, e.Reply.Frame) {
				t.Errorf("got %v, want %v", unmarshal(t, reply), unmarshal(t, e.Reply.Frame))
			}
		})
	}
}

func checkOurs(t *testing.T, reply []byte, want string) {
	t.Helper()
	got := unmarshal(t, reply)
	if m, ok := got.(*payload.Map); ok {
		got = m.Map("load").Value("ret")
	}
	if got != want {
		t.Errorf("got %v, want %q", got, want)
	}
}

// openedAcceptance is the comparable part of an acceptance.
type openedAcceptance struct {
	fields              []any
	shared, session     string
	token, sig, pubSig  string
	pubKey, nonce, port any
}

// openAcceptance checks the signature of an acceptance and opens it with the minion's key.
func openAcceptance(t *testing.T, frame []byte, encAlgo, sigAlgo string) openedAcceptance {
	t.Helper()
	inner, ok := unmarshal(t, frame).(*payload.Map)
	if !ok {
		t.Fatalf("reply is %v", unmarshal(t, frame))
	}
	keys := keysOf(t)
	if inner.Has("load") {
		load := inner.Bytes("load")
		if err := keys.private("master").Public().Verify(sigAlgo, load, inner.Bytes("sig")); err != nil {
			t.Fatal(err)
		}
		inner = unmarshal(t, load).(*payload.Map)
	}
	open := func(field string) string {
		if !inner.Has(field) {
			return ""
		}
		text, err := keys.private("minion").Decrypt(encAlgo, inner.Bytes(field))
		if err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		return string(text)
	}
	return openedAcceptance{
		fields: inner.Keys(), shared: open("aes"), session: open("session"), token: open("token"),
		sig: hex.EncodeToString(inner.Bytes("sig")), pubSig: string(inner.Bytes("pub_sig")),
		pubKey: CleanKey(inner.Str("pub_key")), nonce: inner.Value("nonce"), port: inner.Value("publish_port"),
	}
}

func checkAcceptance(t *testing.T, e wiretest.Exchange, reply []byte) {
	t.Helper()
	enc, sig := algorithmOf(loadOf(e), "enc_algo", crypt.OAEPSHA1), algorithmOf(loadOf(e), "sig_algo",
		crypt.PKCS1v15SHA1)
	got := openAcceptance(t, reply, enc, sig)
	if e.Release == "3006" { // it knows no algorithms, and sends and signs the key with a newline
		enc, sig = crypt.OAEPSHA1, crypt.PKCS1v15SHA1
		got.pubSig = ""
	}
	want := openAcceptance(t, e.Reply.Frame, enc, sig)
	if e.Release == "3006" {
		want.pubSig = ""
	}
	if version, _ := e.Request.Version.(int64); version > 1 { // fields that brine adds, only in the signed part
		added := int(min(version, 3)) // with a session also a link
		salts := without(without(without(got.fields, fieldBrine), fieldLink), fieldSigns)
		if len(salts) != len(got.fields)-added {
			t.Errorf("the reply does not say that it is brine's, and signs: %v", got.fields)
		}
		got.fields = salts
	}
	if want.session == "" { // of version 2
		want.session = got.session
		got.fields = without(got.fields, "session")
	}
	if want.shared != e.Reply.AESPlain || want.token != e.Reply.TokenPlain {
		t.Error("the recorded reply does not open to its recorded content")
	}
	if !payload.Equal(got.fields, want.fields) {
		t.Errorf("fields: got %v, want %v", got.fields, want.fields)
	}
	got.fields, want.fields = nil, nil
	if g, w := got, want; g.shared != w.shared || g.session != w.session || g.token != w.token || g.sig != w.sig ||
		g.pubSig != w.pubSig || g.pubKey != w.pubKey || g.nonce != w.nonce || g.port != w.port {
		t.Errorf("got %+v\nwant %+v", g, w)
	}
}

func without(list []any, v any) (out []any) {
	for _, x := range list {
		if x != v {
			out = append(out, x)
		}
	}
	return out
}

// TestMinionJudgesRecordedReplies gives our minion every recorded reply as the answer to its own request.
func TestMinionJudgesRecordedReplies(t *testing.T) {
	for _, e := range signIns(t) {
		if e.Reply == nil || (e.Release == "3006" && e.Name == "auth_ok_v2_sha224") {
			continue // no reply, or one in another algorithm than requested
		}
		t.Run(e.File+"/"+e.Release+"/"+e.Name, func(t *testing.T) {
			load := loadOf(e)
			m, trust := newMinion(t, func(o *MinionOptions) {
				o.EncAlgo = algorithmOf(load, "enc_algo", "")
				o.SigAlgo = algorithmOf(load, "sig_algo", "")
				if !crypt.KnownEncryption(o.EncAlgo) {
					o.EncAlgo = ""
				}
				if !crypt.KnownSignature(o.SigAlgo) {
					o.SigAlgo = ""
				}
				o.VerifyMasterPubkey = e.Reply.SignedLoad.Has("pub_sig")
			})
			trust.signing = keysOf(t).pub("sign")
			m.pending = &signIn{nonce: load.Str("nonce"), withToken: load.Has("token")}
			if load.Has("token") {
				m.pending.masterKey = keysOf(t).pub("master")
				m.token = []byte(e.Reply.TokenPlain)
			}
			step := m.Reply(e.Reply.Frame)
			if want := wantedVerdict(e); step.Verdict != want {
				t.Fatalf("got %+v, want %v", step, want)
			}
			if step.Verdict != Accepted {
				return
			}
			if step.Brine || step.Link != "" {
				t.Error("a master of Salt passes for brine's")
			}
			if m.creds.sharedText != e.Reply.AESPlain || m.creds.sessionText != e.Reply.SessionPlain {
				t.Error("wrong keys")
			}
			if want := 2 + min(1, len(e.Reply.SessionPlain)); step.Version != want {
				t.Errorf("version %d, want %d", step.Version, want)
			}
			if !load.Has("token") && trust.master != keysOf(t).pub("master") {
				t.Errorf("trusts %q", trust.master)
			}
		})
	}
}

// wantedVerdict is the right verdict of a minion for a recorded reply.
func wantedVerdict(e wiretest.Exchange) Verdict {
	signed := e.Reply.SignedLoad
	switch {
	case signed == nil: // text, versions 0 and 1, unknown algorithms
		return Failed
	case signed.Value("ret") == true:
		return Pending
	case signed.Value("ret") == false:
		return Rejected
	case loadOf(e).Has("token") && !signed.Has("token"):
		return Failed
	}
	return Accepted
}

// TestRequestHasRecordedShape compares our sign-in requests with those of live 3008.3 minions.
func TestRequestHasRecordedShape(t *testing.T) {
	seen := 0
	for _, e := range signIns(t) {
		if e.Release != "3008.3" || e.Step == "" {
			continue
		}
		seen++
		load := loadOf(e)
		m, trust := newMinion(t, func(o *MinionOptions) { o.AutosignGrains = load.Map("autosign_grains") })
		if load.Has("token") {
			trust.master = e.Keys["master"].Public
		}
		frame, err := m.Request()
		if err != nil {
			t.Fatal(err)
		}
		got := unmarshal(t, frame).(*payload.Map)
		if !payload.Equal(got.Keys(), e.Request.Decoded.(*payload.Map).Keys()) || got.Value("version") != int64(3) {
			t.Errorf("%s: envelope %v", e.Name, got.Keys())
		}
		inner := got.Map("load")
		if !payload.Equal(inner.Keys(), load.Keys()) {
			t.Errorf("%s: load %v, want %v", e.Name, inner.Keys(), load.Keys())
		}
		for _, key := range []string{"cmd", "id", "enc_algo", "sig_algo", "autosign_grains", "pub"} {
			if !payload.Equal(inner.Value(key), load.Value(key)) {
				t.Errorf("%s: %s is %v, want %v", e.Name, key, inner.Value(key), load.Value(key))
			}
		}
		if len(inner.Str("nonce")) != len(load.Str("nonce")) {
			t.Errorf("%s: nonce %q", e.Name, inner.Str("nonce"))
		}
	}
	if seen < 4 {
		t.Fatalf("only %d recorded requests", seen)
	}
}
