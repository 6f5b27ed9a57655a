package auth

import (
	"errors"
	"strings"
	"testing"
	"time"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// fake is a master that can send anything. Its reply is signed and correct except for the changes of a test.
type fake struct {
	t       testing.TB
	key     string // its RSA key
	shared  string
	session string
	inner   func(*payload.Map) // changes the inner reply
	outer   func(*payload.Map) // changes the envelope
}

func newFake(t testing.TB) *fake {
	return &fake{t: t, key: "master", shared: crypt.NewKeyString(), session: crypt.NewKeyString()}
}

// reply answers a sign-in request.
func (f *fake) reply(request []byte) []byte {
	f.t.Helper()
	load := unmarshal(f.t, request).(*payload.Map).Map("load")
	opt := MasterOptions{Key: keysOf(f.t).private(f.key), Keys: newKeys(), Sessions: newSessions(), PublishPort: 4505,
		Rules: Rules{AcceptAll: true}}
	m, err := NewMaster(opt)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := m.setShared(f.shared); err != nil {
		f.t.Fatal(err)
	}
	in := readSignIn(load, load.Str("id"), 3)
	pub, err := crypt.ParsePublicKey([]byte(in.pub))
	if err != nil {
		f.t.Fatal(err)
	}
	packed, err := m.acceptance(in, admission{key: pub, session: f.session})
	if err != nil {
		f.t.Fatal(err)
	}
	outer := unmarshal(f.t, packed).(*payload.Map)
	if f.inner != nil {
		inner := unmarshal(f.t, outer.Bytes("load")).(*payload.Map)
		f.inner(inner)
		raw := marshal(f.t, inner)
		sig, err := opt.Key.Sign(in.sigAlgo, raw)
		if err != nil {
			f.t.Fatal(err)
		}
		outer.Set("load", raw).Set("sig", sig)
	}
	if f.outer != nil {
		f.outer(outer)
	}
	return marshal(f.t, outer)
}

func (f *fake) signIn(m *Minion) Step {
	f.t.Helper()
	frame, err := m.Request()
	if err != nil {
		f.t.Fatal(err)
	}
	return m.Reply(f.reply(frame))
}

func set(field string, v any) func(*payload.Map) {
	return func(m *payload.Map) { m.Set(field, v) }
}

func drop(field string) func(*payload.Map) {
	return func(m *payload.Map) { m.Delete(field) }
}

// TestMinionVerifiesMaster covers the possible contents of an acceptance. trusted names the key that the minion trusts
// before it, after the key that it must trust afterwards.
func TestMinionVerifiesMaster(t *testing.T) {
	finger, finger512 := fingerOf(t, "sha256"), fingerOf(t, "sha512")
	verify := func(o *MinionOptions) { o.VerifyMasterPubkey = true }
	for _, tt := range []struct {
		name    string
		trusted string
		change  func(*MinionOptions)
		inner   func(*payload.Map)
		outer   func(*payload.Map)
		want    Verdict
		text    string // part of Step.Text
		after   string
	}{
		{"first master", "", nil, nil, nil, Accepted, "", "master"},
		{"known master", "master", nil, nil, nil, Accepted, "", "master"},
		{"known master, newline at the end of its key", "master", nil, set("pub_key", keysOf(t).pub("master")+"\n"),
			nil, Accepted, "", "master"},
		{"another master", "other", nil, nil, nil, Failed, string(textKeyChanged), "other"},
		{"another master, open mode", "other", func(o *MinionOptions) {
			o.OpenMode = true
		}, nil, nil, Failed, string(textMasterKey), "other"},
		{"damaged trust file", "garbage", nil, nil, nil, Failed, string(textMasterKey), "garbage"},
		{"token not returned", "master", nil, drop("token"), nil, Failed, string(textTokenMissing), "master"},
		{"wrong token", "master", nil, set("token", "x"), nil, Failed, string(textTokenMissing), "master"},
		{"no shared key", "", nil, drop("aes"), nil, Failed, string(textMasterKey), ""},
		{"shared key is no key", "", nil, func(m *payload.Map) {
			reseal(t, m, "no key")
		}, nil, Failed, string(textMasterKey), ""},
		{"shared key of somebody else", "", nil, func(m *payload.Map) {
			reseal(t, m, crypt.NewKeyString())
			drop("sig")(m)
		}, nil, Failed, string(textMasterKey), ""},
		{"X9.31 signature missing", "", nil, drop("sig"), nil, Failed, string(textMasterKey), ""},
		{"session does not decrypt", "", nil, set("session", "x"), nil, Failed, string(textMasterKey), ""},
		{"signature damaged", "", nil, nil, set("sig", "x"), Failed, string(textSignature), ""},
		{"signature missing", "", nil, nil, drop("sig"), Failed, "not signed", ""},
		{"load missing", "", nil, nil, drop("load"), Failed, "unexpected", ""},
		{"load damaged", "", nil, nil, set("load", "\xc1"), Failed, "malformed", ""},
		{"load is a map", "", nil, nil, set("load", payload.M("ret", true)), Failed, "not signed", ""},
		{"nonce missing", "", nil, drop("nonce"), nil, Failed, string(textNonce), ""},
		{"another nonce", "", nil, set("nonce", strings.Repeat("0", 32)), nil, Failed, string(textNonce), ""},
		{"neither key nor result", "", nil, func(m *payload.Map) {
			drop("pub_key")(m)
			drop("aes")(m)
		}, nil, Failed, "neither", ""},
		{"key is no text", "", nil, set("pub_key", 5), nil, Failed, string(textMasterKey), ""},
		{"right finger", "", func(o *MinionOptions) { o.MasterFinger = finger }, nil, nil, Accepted, "", "master"},
		{"right finger, other hash", "", func(o *MinionOptions) {
			o.MasterFinger, o.HashType = finger512, "sha512"
		}, nil, nil, Accepted, "", "master"},
		{"wrong finger", "", func(o *MinionOptions) { o.MasterFinger = finger512 }, nil, nil, Fatal, finger, ""},
		{"unknown hash", "", func(o *MinionOptions) {
			o.MasterFinger, o.HashType = finger, "x"
		}, nil, nil, Failed, "unknown algorithm", ""},
		{"signs, we do not check", "", nil, vouch(t, "sign"), nil, Failed, string(textMasterSigns), ""},
		{"does not sign, we check", "", verify, nil, nil, Failed, string(textMinionChecks), ""},
		{"signs and we check", "", verify, vouch(t, "sign"), nil, Accepted, "", "master"},
		{"signs with a wrong key", "", verify, vouch(t, "other"), nil, Failed, string(textBadPubSig), ""},
		{"signature is no base64", "", verify, set("pub_sig", "*"), nil, Failed, string(textBadPubSig), ""},
		{"another master, vouched for", "other", verify, vouch(t, "sign"), nil, Accepted, "", "master"},
		{"another master, badly vouched for", "other", verify, vouch(t, "other"), nil, Failed, string(textBadPubSig),
			"other"},
		{"known master, signature not looked at", "master", verify, vouch(t, "other"), nil, Accepted, "", "master"},
		{"known master, always checked", "master", func(o *MinionOptions) {
			verify(o)
			o.AlwaysVerifySignature = true
		}, vouch(t, "sign"), nil, Accepted, "", "master"},
		{"known master, always checked, bad", "master", func(o *MinionOptions) {
			verify(o)
			o.AlwaysVerifySignature = true
		}, vouch(t, "other"), nil, Failed, string(textBadPubSig), "master"},
		{"known master, always checked, none", "master", func(o *MinionOptions) {
			o.AlwaysVerifySignature = true
		}, nil, nil, Failed, string(textBadPubSig), "master"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, trust := newMinion(t, tt.change)
			trust.signing = keysOf(t).pub("sign")
			trust.master = textOf(t, tt.trusted)
			f := newFake(t)
			f.inner, f.outer = tt.inner, tt.outer
			step := f.signIn(m)
			if step.Verdict != tt.want || !strings.Contains(step.Text, tt.text) {
				t.Fatalf("got %v %q, want %v %q", step.Verdict, step.Text, tt.want, tt.text)
			}
			if trust.master != textOf(t, tt.after) {
				t.Errorf("trusts %.60q afterwards", trust.master)
			}
			if m.SignedIn() != (tt.want == Accepted) || (step.ExitCode == ExitWrongMaster) != (tt.want == Fatal) {
				t.Errorf("signed in %v, %+v", m.SignedIn(), step)
			}
			if step.NewMaster != (trust.sets > 0) {
				t.Errorf("NewMaster %v, stored %d times", step.NewMaster, trust.sets)
			}
		})
	}
}

// fingerOf is the fingerprint of the master's key.
func fingerOf(t *testing.T, hash string) string {
	t.Helper()
	finger, err := crypt.Fingerprint([]byte(keysOf(t).pub("master")), hash)
	if err != nil {
		t.Fatal(err)
	}
	return finger
}

func textOf(t testing.TB, name string) string {
	if name == "" || name == "garbage" {
		return name
	}
	return keysOf(t).pub(name)
}

// reseal replaces the shared key in a reply, and the X9.31 signature over it.
func reseal(t testing.TB, m *payload.Map, text string) {
	t.Helper()
	keys := keysOf(t)
	aes, err := keys.private("minion").Public().Encrypt(crypt.OAEPSHA1, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m.Set("aes", aes)
}

// vouch adds pub_sig made with a key.
func vouch(t testing.TB, name string) func(*payload.Map) {
	return func(m *payload.Map) {
		t.Helper()
		var sigs pubSigs
		sigs.init(MasterOptions{Key: keysOf(t).private("master"), SignKey: keysOf(t).private(name)})
		if err := sigs.add(m, crypt.PKCS1v15SHA1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMinionWithoutSigningKey(t *testing.T) {
	for signing, want := range map[string]fault{"": textNoSigningKey, "garbage": "verification public key"} {
		m, trust := newMinion(t, func(o *MinionOptions) { o.VerifyMasterPubkey = true })
		trust.signing = signing
		f := newFake(t)
		f.inner = vouch(t, "sign")
		if step := f.signIn(m); step.Verdict != Failed || !strings.Contains(step.Text, string(want)) {
			t.Errorf("%q: %+v", signing, step)
		}
	}
}

// TestProtocolDowngrade: a minion speaks version 2 with a master that has no sessions, but never with one that once had
// sessions.
func TestProtocolDowngrade(t *testing.T) {
	m, _ := newMinion(t, nil)
	f := newFake(t)
	f.inner = drop("session")
	step := f.signIn(m)
	if step.Verdict != Accepted || step.Version != 2 || m.Version() != 2 {
		t.Fatalf("old master: %+v", step)
	}
	frame, err := m.Request()
	if err != nil || unmarshal(t, frame).(*payload.Map).Value("version") != int64(3) {
		t.Errorf("the next sign-in does not state version 3: %v", err)
	}
	f.inner = nil
	if step = f.signIn(m); step.Verdict != Accepted || step.Version != 3 || !step.NewKey {
		t.Fatalf("the master learned version 3: %+v", step)
	}
	f.inner = drop("session")
	if step = f.signIn(m); step.Verdict != Failed || step.Text != string(textSessionGone) {
		t.Fatalf("the master forgot version 3: %+v", step)
	}
	if m.Version() != 3 {
		t.Errorf("version %d", m.Version())
	}
}

// TestMaxVersion: a minion with MaxVersion 2 speaks version 2 even with a newer master.
func TestMaxVersion(t *testing.T) {
	m, _ := newMinion(t, func(o *MinionOptions) { o.MaxVersion = 2 })
	frame, err := m.Request()
	if err != nil || unmarshal(t, frame).(*payload.Map).Value("version") != int64(2) {
		t.Errorf("the sign-in does not state version 2: %v", err)
	}
	if step := newFake(t).signIn(m); step.Verdict != Accepted || step.Version != 2 {
		t.Fatalf("%+v", step)
	}
	frame, _, err = m.Seal(payload.M("cmd", payload.CmdReturn, "id", "m1"))
	if env := unmarshal(t, frame).(*payload.Map); err != nil || env.Value("version") != int64(2) || env.Has("id") {
		t.Errorf("request of version %v, id %v: %v", env.Value("version"), env.Value("id"), err)
	}
}

func TestMinionResults(t *testing.T) {
	slow := func(o *MinionOptions) { o.AcceptanceWaitMax = 35 * time.Second }
	retry := func(o *MinionOptions) { o.RejectedRetry = true }
	for _, tt := range []struct {
		name   string
		change func(*MinionOptions)
		ret    any
		want   Verdict
		waits  []time.Duration // one for each reply
	}{
		{"pending", nil, true, Pending, []time.Duration{10 * time.Second, 10 * time.Second}},
		{"pending, growing", slow, true, Pending, []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second,
			40 * time.Second}},
		{"pending, odd", nil, "odd", Pending, []time.Duration{10 * time.Second}},
		{"rejected", nil, false, Rejected, []time.Duration{0}},
		{"rejected, nil", nil, nil, Rejected, []time.Duration{0}},
		{"rejected, retried", retry, false, Retry, []time.Duration{10 * time.Second}},
		{"full", nil, "full", Full, []time.Duration{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := newMinion(t, tt.change)
			f := newFake(t)
			f.inner = func(inner *payload.Map) { drop("pub_key")(inner); inner.Set("ret", tt.ret) }
			for i, wait := range tt.waits {
				step := f.signIn(m)
				if step.Verdict != tt.want || step.Text == "" {
					t.Fatalf("reply %d: %+v", i, step)
				}
				if step.Verdict == Rejected {
					if step.ExitCode != ExitNoPermission || step.Wait < 10*time.Second || step.Wait > 20*time.Second {
						t.Errorf("rejected: %+v", step)
					}
				} else if step.Wait != wait {
					t.Errorf("reply %d: waits %v, want %v", i, step.Wait, wait)
				}
			}
		})
	}
}

// TestAnswerOfAStranger: an answer without a key is believed only if the known master has signed it.
func TestAnswerOfAStranger(t *testing.T) {
	m, trust := newMinion(t, nil)
	f := newFake(t)
	f.key = "other"
	f.inner = func(inner *payload.Map) { drop("pub_key")(inner); inner.Set("ret", false) }
	if step := f.signIn(m); step.Verdict != Rejected {
		t.Errorf("unknown master: %+v", step)
	}
	trust.master = keysOf(t).pub("master")
	if step := f.signIn(m); step.Text != string(textSignature) {
		t.Errorf("not the known master: %+v", step)
	}
}

func TestReplyForms(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reply any
		text  string
	}{
		{"text", payload.TextBadLoad, payload.TextBadLoad},
		{"number", 5, "unexpected"},
		{"map", payload.M("msg", "bad load"), "unexpected"},
		{"unknown enc_algo", payload.M("enc", "clear", "load", payload.M("ret", "bad enc algo")), textBadEncAlgo},
		{"unknown sig_algo", payload.M("enc", "clear", "load", payload.M("ret", "bad sig algo")), textBadSigAlgo},
		{"unsigned", payload.M("enc", "clear", "load", payload.M("ret", true)), "not signed"},
		{"version 1", payload.M("enc", "pub", "pub_key", "x", "aes", "y"), "unexpected"},
	} {
		m, _ := newMinion(t, nil)
		if _, err := m.Request(); err != nil {
			t.Fatal(err)
		}
		if step := m.Reply(marshal(t, tt.reply)); step.Verdict != Failed || !strings.Contains(step.Text, tt.text) {
			t.Errorf("%s: %+v", tt.name, step)
		}
	}
	m, _ := newMinion(t, nil)
	if step := m.Reply(nil); step.Verdict != Failed {
		t.Errorf("a reply nobody asked for: %+v", step)
	}
	if _, err := m.Request(); err != nil {
		t.Fatal(err)
	}
	if step := m.Reply([]byte{0xc1}); step.Verdict != Failed {
		t.Errorf("no msgpack: %+v", step)
	}
}

func TestReplyToAnEarlierRequest(t *testing.T) {
	m, _ := newMinion(t, nil)
	first, err := m.Request()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Request(); err != nil {
		t.Fatal(err)
	}
	if step := m.Reply(newFake(t).reply(first)); step.Text != string(textNonce) {
		t.Errorf("got %+v", step)
	}
}

func TestTimedOut(t *testing.T) {
	m, _ := newMinion(t, nil)
	if step := m.TimedOut(); step.Verdict != Failed {
		t.Errorf("got %+v", step)
	}
	m, _ = newMinion(t, func(o *MinionOptions) { o.AuthSafemode = true })
	if step := m.TimedOut(); step.Verdict != Retry || step.Wait != 10*time.Second {
		t.Errorf("safe mode: %+v", step)
	}
	m2, trust := newMinion(t, nil)
	trust.err = errDisk
	if _, err := m2.Request(); !errors.Is(err, errDisk) {
		t.Errorf("unreadable trust: %v", err)
	}
}

func TestNewMinionRefuses(t *testing.T) {
	good, _ := newMinion(t, nil)
	for name, change := range map[string]func(*MinionOptions){
		"no key":     func(o *MinionOptions) { o.Key = nil },
		"no trust":   func(o *MinionOptions) { o.Trust = nil },
		"no id":      func(o *MinionOptions) { o.ID = "" },
		"id":         func(o *MinionOptions) { o.ID = "a/b" },
		"encryption": func(o *MinionOptions) { o.EncAlgo = "x" },
		"signature":  func(o *MinionOptions) { o.SigAlgo = crypt.OAEPSHA1 },
	} {
		opt := good.opt
		change(&opt)
		if _, err := NewMinion(opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if Accepted.String() != "accepted" || Fatal.String() != "fatal" || Verdict(99).String() != "unknown" {
		t.Error("names of verdicts")
	}
}
