package auth

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

func TestOpenErrors(t *testing.T) {
	key, nonce := crypt.NewKeyString(), newNonce()
	box, err := crypt.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := newMinion(t, nil)
	if _, err := m.Open(nil, nonce); !errors.Is(err, ErrBadReply) {
		t.Errorf("nothing: %v", err)
	}
	if _, err := m.Open(packText("x"), nonce); !errors.Is(err, ErrNotSignedIn) {
		t.Errorf("before sign-in: %v", err)
	}
	signedInto(t, m, key, 3)
	for _, tt := range []struct {
		name  string
		reply any
		want  error
	}{
		{"bad load", payload.TextBadLoad, ErrReauth},
		{"long text", strings.Repeat("x", 200), ErrReauth},
		{"empty text", "", ErrReauth},
		{"another key", make([]byte, 96), ErrReauth},
		{"another nonce", box.Seal([]byte{0xc0}, newNonce()), crypt.ErrBadNonce},
		{"no nonce", box.Seal([]byte{0xc0}, ""), crypt.ErrBadNonce},
		{"malformed", box.Seal([]byte{0xc1}, nonce), ErrBadReply},
		{"a map", payload.M("error", "x"), ErrBadReply},
		{"nil", nil, ErrBadReply},
	} {
		if _, err := m.Open(marshal(t, tt.reply), nonce); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := m.Open(packText(payload.TextBadLoad), nonce); !strings.Contains(err.Error(), payload.TextBadLoad) {
		t.Errorf("the error does not say what the master said: %v", err)
	}
}

// TestReplyUnderThePreviousKey opens a reply that was under way while the minion signed in again.
func TestReplyUnderThePreviousKey(t *testing.T) {
	m, _ := newMinion(t, nil)
	f := newFake(t)
	if step := f.signIn(m); step.Verdict != Accepted {
		t.Fatalf("%+v", step)
	}
	_, nonce, err := m.Seal(payload.M("cmd", "x"))
	if err != nil {
		t.Fatal(err)
	}
	old, err := crypt.NewBox(f.session)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // the second sign-in changes nothing, the third changes the session again
		if i != 1 {
			f.session = crypt.NewKeyString()
		}
		if step := f.signIn(m); step.Verdict != Accepted || step.NewKey != (i != 1) {
			t.Fatalf("sign-in %d: %+v", i, step)
		}
		_, err := m.Open(marshal(t, old.Seal([]byte{0xc3}, nonce)), nonce)
		if want := i == 2; errors.Is(err, ErrReauth) != want {
			t.Errorf("after sign-in %d: %v", i, err)
		}
	}
}

// TestSerialVectors gives one receiver the recorded publications of one sender.
func TestSerialVectors(t *testing.T) {
	file := wiretest.Load(t, "crypticle")
	m, _ := newMinion(t, nil)
	signedInto(t, m, file.Doc.Str("key_string"), 3)
	for _, c := range file.List("serial_checks_one_receiver") {
		p := payload.Publication{Enc: payload.EncAES, Load: wiretest.Hex(t, c, "ciphertext_hex")}
		frame, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.OpenPublication(frame)
		want := c.Map("result")
		if want.Len() == 0 {
			if !errors.Is(err, ErrIgnore) {
				t.Errorf("serial %v: got %v, want ErrIgnore", c.Value("serial_sent"), err)
			}
		} else if err != nil || !got.Equal(want) {
			t.Errorf("serial %v: got %v, %v", c.Value("serial_sent"), got, err)
		}
		if after, _ := c.Int("receiver_serial_after"); m.creds.serial.last != after {
			t.Errorf("serial %v: counter at %d, want %d", c.Value("serial_sent"), m.creds.serial.last, after)
		}
	}
}

func TestOpenPublicationErrors(t *testing.T) {
	key := crypt.NewKeyString()
	box, err := crypt.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := newMinion(t, nil)
	if _, err := m.OpenPublication(nil); !errors.Is(err, ErrNotSignedIn) {
		t.Errorf("before sign-in: %v", err)
	}
	signedInto(t, m, key, 3)
	seal := func(v any) any { return box.Seal(marshal(t, v), "") }
	for _, tt := range []struct {
		name string
		in   any
		want error
	}{
		{"no map", 5, ErrBadReply},
		{"no load", payload.M("enc", "aes"), ErrBadReply},
		{"clear", payload.M("enc", "clear", "load", "x"), ErrIgnore},
		{"another key", payload.M("enc", "aes", "load", make([]byte, 96)), ErrReauth},
		{"no map inside", payload.M("enc", "aes", "load", seal(5)), ErrBadReply},
		{"serial is no number", payload.M("enc", "aes", "load", seal(payload.M("serial", "x"))), ErrIgnore},
		{"serial 0", payload.M("enc", "aes", "load", seal(payload.M("serial", 0))), ErrIgnore},
		{"no serial", payload.M("enc", "aes", "load", seal(payload.M("fun", "f"))), nil},
	} {
		if _, err := m.OpenPublication(marshal(t, tt.in)); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
	m.opt.SignPubMessages = true
	load := seal(payload.M("fun", "f"))
	sig, err := keysOf(t).private("master").Sign(crypt.PKCS1v15SHA1, payload.AsBytes(load))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		in   *payload.Map
		want error
	}{
		"as 3006.0 signs": {payload.M("enc", "aes", "load", load, "sig", sig), nil},
		"right":           {payload.M("enc", "aes", "load", load, "sig_algo", crypt.PKCS1v15SHA1, "sig", sig), nil},
		"another algorithm": {payload.M("enc", "aes", "load", load, "sig_algo", crypt.PKCS1v15SHA224, "sig", sig),
			crypt.ErrBadSignature},
		"unknown algorithm": {payload.M("enc", "aes", "load", load, "sig_algo", "x", "sig", sig),
			crypt.ErrBadSignature},
		"wrong": {payload.M("enc", "aes", "load", load, "sig_algo", crypt.PKCS1v15SHA1, "sig", "x"),
			crypt.ErrBadSignature},
	} {
		if _, err := m.OpenPublication(marshal(t, tt.in)); !errors.Is(err, tt.want) {
			t.Errorf("signed, %s: got %v, want %v", name, err, tt.want)
		}
	}
}

func TestOpenPillarErrors(t *testing.T) {
	m, _ := newMinion(t, nil)
	if _, err := m.OpenPillar(packText("x"), ""); !errors.Is(err, ErrNotSignedIn) {
		t.Errorf("before sign-in: %v", err)
	}
	signedInto(t, m, crypt.NewKeyString(), 3)
	pub := keysOf(t).private("minion").Public()
	enc := func(text string) []byte {
		ct, err := pub.Encrypt(crypt.OAEPSHA1, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return ct
	}
	text := crypt.NewKeyString()
	key := enc(text)
	box, err := crypt.NewBox(text)
	if err != nil {
		t.Fatal(err)
	}
	seal := func(v any) []byte { return box.Seal(marshal(t, v), "") }
	signed := func(data any) *payload.Map {
		raw := marshal(t, data)
		sig, err := keysOf(t).private("master").Sign(crypt.PKCS1v15SHA1, raw)
		if err != nil {
			t.Fatal(err)
		}
		return payload.M("key", key, "pillar", seal(payload.M("data", raw, "sig", sig)))
	}
	for _, tt := range []struct {
		name  string
		reply any
		want  error
	}{
		{"text", payload.TextBadLoad, ErrReauth},
		{"error", payload.M("error", textNoKey), ErrReauth},
		{"key for somebody else", payload.M("key", make([]byte, 256)), ErrBadReply},
		{"key is no key", payload.M("key", enc("x")), ErrBadReply},
		{"no pillar", payload.M("key", key), ErrBadReply},
		{"pillar of version 1", payload.M("key", key, "pillar", seal(payload.M("a", 1))), ErrReauth},
		{"pillar is no map", payload.M("key", key, "pillar", seal(5)), ErrBadReply},
		{"signed, no map", signed(5), ErrBadReply},
		{"signed, another key", signed(payload.M("key", "x", "pillar", payload.M(), "nonce", "n")), ErrBadReply},
		{"signed, another nonce", signed(payload.M("key", key, "pillar", payload.M(), "nonce", "m")),
			crypt.ErrBadNonce},
		{"signed, no pillar", signed(payload.M("key", key, "nonce", "n")), ErrBadReply},
		{"right", signed(payload.M("key", key, "pillar", payload.M("a", 1), "nonce", "n")), nil},
	} {
		if _, err := m.OpenPillar(marshal(t, tt.reply), "n"); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := m.OpenPillar([]byte{0xc1}, "n"); !errors.Is(err, ErrBadReply) {
		t.Errorf("no msgpack: %v", err)
	}
}

// TestPillarRefusals covers private replies without a pillar.
func TestPillarRefusals(t *testing.T) {
	c := acceptedAt(t, func(o *MasterOptions) { o.MinimumAuthVersion = 0 })
	open := func(r *payload.Request) *Opened {
		o, refuse := c.at.OpenRequest(r, testTime)
		if o == nil {
			t.Fatalf("refused: %q", refuse)
		}
		return o
	}
	algo := func(enc, sig string) *payload.Request {
		r := c.v3()
		r.EncAlgo, r.SigAlgo = enc, sig
		return r
	}
	for _, tt := range []struct {
		name string
		o    *Opened
		want any
	}{
		{"no nonce", open(c.v3("nonce", nil)), payload.M("error", textNoNonce)},
		{"no key", open(c.v2("cmd", "x", "id", "nobody", "nonce", "n")), payload.M("error", textNoKey)},
		{"no id", open(c.v2("cmd", "x", "nonce", "n")), payload.M("error", textNoKey)},
		{"unknown enc_algo", open(algo("x", "")), payload.TextHandlerFailed},
		{"unknown sig_algo", open(algo("", "x")), payload.TextHandlerFailed},
	} {
		reply, err := c.at.PillarReply(tt.o, payload.M("a", 1))
		if err != nil || !payload.Equal(unmarshal(t, reply), tt.want) {
			t.Errorf("%s: got %v, %v, want %v", tt.name, unmarshal(t, reply), err, tt.want)
		}
	}
	o := open(c.v3())
	if _, err := c.at.PillarReply(o, payload.M("a", make(chan int))); !errors.Is(err, payload.ErrUnencodable) {
		t.Errorf("a pillar that cannot be packed: %v", err)
	}
	reply, err := c.at.PillarReply(o, false)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := newMinion(t, nil)
	signedInto(t, m, crypt.NewKeyString(), 3)
	if got, err := m.OpenPillar(reply, "n"); err != nil || got.Len() != 0 {
		t.Errorf("false as pillar: %v, %v", got, err)
	}
	if err := c.at.keys.Put("m1", StateAccepted, "garbage"); err != nil {
		t.Fatal(err)
	}
	reply, err = c.at.PillarReply(o, false)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := c.at.shared.Load().box.Open(payload.AsBytes(unmarshal(t, reply)), "")
	if err != nil || !payload.Equal(unmarshal(t, packed), payload.NewMap(0)) {
		t.Errorf("unreadable key: %x, %v", packed, err)
	}
}

func TestSealRefusesWhatHasNoForm(t *testing.T) {
	for _, sign := range []bool{false, true} {
		for _, version := range []int{2, 3} {
			m, _ := newMinion(t, func(o *MinionOptions) { o.SignMessages = sign })
			signedInto(t, m, crypt.NewKeyString(), version)
			if _, _, err := m.Seal(payload.M("a", make(chan int))); !errors.Is(err, payload.ErrUnencodable) {
				t.Errorf("version %d, signed %v: %v", version, sign, err)
			}
		}
	}
	at := newMaster(t, nil)
	if _, err := at.SealPublication(payload.M("a", make(chan int))); !errors.Is(err, payload.ErrUnencodable) {
		t.Errorf("publication: %v", err)
	}
}

// TestSignedReturnsOfOurs signs with our minion, in both versions, and verifies with our master.
func TestSignedReturnsOfOurs(t *testing.T) {
	for _, version := range []int{2, 3} {
		c := acceptedAt(t, func(o *MasterOptions) {
			o.MinimumAuthVersion, o.RequireSignature, o.DropBadSignature = 2, true, true
		})
		m, _ := newMinion(t, func(o *MinionOptions) { o.SignMessages = true })
		key := c.at.sessions.key["m1"]
		if version == 2 {
			key = c.at.SharedKey()
		}
		signedInto(t, m, key, version)
		frame, _, err := m.Seal(payload.M("cmd", payload.CmdReturn, "jid", "1", "return", payload.M("b", []byte{0xff}),
			"id", "m1"))
		if err != nil {
			t.Fatal(err)
		}
		o, refuse := c.at.OpenRequest(decodeRequest(t, frame), testTime)
		if o == nil {
			t.Fatalf("version %d: refused: %q", version, refuse)
		}
		if ok, err := c.at.VerifyReturn(o); !ok || err != nil || o.Load.Has("sig") {
			t.Errorf("version %d: %v, %v, %v", version, ok, err, o.Load)
		}
	}
}

// TestOldFileServerTakesNoExtras: a master of version 2 gets no additional fields for its file server.
func TestOldFileServerTakesNoExtras(t *testing.T) {
	m, _ := newMinion(t, func(o *MinionOptions) { o.SignMessages = true })
	got, err := m.complete(&creds{version: 2}, payload.M("id", "m1", "cmd", payload.CmdFileEnvs), "n")
	if want := payload.M("cmd", payload.CmdFileEnvs, "nonce", "n"); err != nil || !got.Equal(want) {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestManyAtOnce runs both sides from many goroutines, for the race detector.
func TestManyAtOnce(t *testing.T) {
	at := newMaster(t, func(o *MasterOptions) { o.Rules.AcceptAll = true })
	m, _ := newMinion(t, nil)
	if step, _ := signInAt(t, m, at); step.Verdict != Accepted {
		t.Fatalf("%+v", step)
	}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for range 10 {
				frame, nonce, err := m.Seal(payload.M("cmd", "x"))
				if err != nil {
					t.Error(err)
					return
				}
				o, refuse := at.OpenRequest(decodeRequest(t, frame), testTime)
				if o == nil {
					t.Errorf("refused: %q", refuse)
					return
				}
				if _, err := m.Open(o.Seal([]byte{0xc0}), nonce); err != nil {
					t.Error(err)
				}
				if i == 0 {
					signInAt(t, m, at)
				}
				if i == 1 {
					if err := at.Rotate(); err != nil {
						t.Error(err)
					}
				}
				if i == 2 {
					if frame, err := at.SealPublication(o.Load); err != nil {
						t.Error(err)
					} else if _, err := m.OpenPublication(frame); err != nil && !errors.Is(err, ErrReauth) &&
						!errors.Is(err, ErrIgnore) {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestOpenShared: large answers are opened in place, with the current and the previous keys, and have the same content
// as with Open.
func TestOpenShared(t *testing.T) {
	key, nonce := crypt.NewKeyString(), newNonce()
	box, err := crypt.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := newMinion(t, nil)
	signedInto(t, m, key, 3)
	for _, size := range []int{0, 10, 5000, 200000} {
		packed := marshal(t, payload.M("data", strings.Repeat("t", size), "dest", "d"))
		reply := marshal(t, box.Seal(packed, nonce))
		want, err1 := m.Open(reply, nonce)
		got, err2 := m.OpenShared(reply, nonce, nil)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		a, b := want.(*payload.Map), got.(*payload.Map)
		if string(a.Bytes("data")) != string(b.Bytes("data")) || b.Str("dest") != "d" || len(b.Bytes("data")) != size {
			t.Errorf("%d bytes: another answer", size)
		}
		if data, ok := b.Value("data").([]byte); ok == (size < 4096) {
			t.Errorf("%d bytes: a %T", size, b.Value("data"))
		} else if ok && testing.AllocsPerRun(5, func() {
			_, _ = m.OpenShared(marshal(t, box.Seal(packed, nonce)), nonce, nil)
		}) > 40 {
			t.Errorf("%d bytes: many allocations for %d", size, len(data))
		}
	}
	for _, bad := range []any{payload.TextBadLoad, strings.Repeat("x", 10000), make([]byte, 10000)} {
		if _, err := m.OpenShared(marshal(t, bad), nonce, nil); !errors.Is(err, ErrReauth) {
			t.Errorf("%.20v: %v", bad, err)
		}
	}
	if _, err := m.OpenShared(marshal(t, box.Seal(make([]byte, 9000), newNonce())), nonce, nil); !errors.Is(err,
		crypt.ErrBadNonce) {
		t.Errorf("another nonce: %v", err)
	}
}
