package auth

import (
	"errors"
	"math"
	"testing"
	"time"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// craft makes requests as any peer could.
type craft struct {
	t   testing.TB
	at  masterRig
	tok []byte
}

// acceptedAt returns a master that has accepted m1 with a session, and a crafter for its requests.
func acceptedAt(t testing.TB, change func(*MasterOptions)) craft {
	t.Helper()
	at := newMaster(t, change)
	if err := at.keys.Put("m1", StateAccepted, keysOf(t).pub("minion")); err != nil {
		t.Fatal(err)
	}
	if err := at.sessions.Create("m1", keysOf(t).pub("minion"), crypt.NewKeyString(), testTime); err != nil {
		t.Fatal(err)
	}
	tok, err := crypt.TokenOf(keysOf(t).private("minion"))
	if err != nil {
		t.Fatal(err)
	}
	return craft{t, at, tok}
}

func (c craft) seal(key string, v any) []byte {
	c.t.Helper()
	box, err := crypt.NewBox(key)
	if err != nil {
		c.t.Fatal(err)
	}
	return box.Seal(marshal(c.t, v), "")
}

// v3 is a valid request of version 3, changed by the pairs; nil removes a field.
func (c craft) v3(pairs ...any) *payload.Request {
	load := payload.M("cmd", "x", "nonce", "n", "ts", testTime.Unix(), "tok", c.tok, "id", "m1")
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			load.Delete(pairs[i])
			continue
		}
		load.Set(pairs[i], pairs[i+1])
	}
	return &payload.Request{Enc: payload.EncAES, Version: 3, ID: "m1", Load: c.seal(c.at.sessions.key["m1"], load)}
}

func (c craft) v2(kv ...any) *payload.Request {
	return &payload.Request{Enc: payload.EncAES, Version: 2, Load: c.seal(c.at.SharedKey(), payload.M(kv...))}
}

func with(r *payload.Request, change func(*payload.Request)) *payload.Request {
	change(r)
	return r
}

// TestEdgeRows covers the rows of the table of errors and edge cases that this package answers.
func TestEdgeRows(t *testing.T) {
	c := acceptedAt(t, func(o *MasterOptions) { o.RequestServerTTL = time.Minute; o.MinimumAuthVersion = 0 })
	other, err := crypt.TokenOf(keysOf(t).private("other"))
	if err != nil {
		t.Fatal(err)
	}
	clearOf := func(v any) *payload.Request { return &payload.Request{Enc: payload.EncClear, Version: 3, Load: v} }
	for _, tt := range []struct {
		name string
		req  *payload.Request
		want string // "": served
	}{
		{"good v3", c.v3(), ""},
		{"good v2", c.v2("cmd", "x", "id", "m1"), ""},
		{"good clear", clearOf(payload.M("cmd", "ping")), ""},
		{"load is no map", clearOf("x"), payload.TextNotDict},
		{"id with NUL", clearOf(payload.M("id", "a\x00b")), payload.TextNullByte},
		{"id is a number", clearOf(payload.M("id", 5)), "bad load: id 5 is not a string"},
		{"id is a big number", clearOf(payload.M("id", uint64(math.MaxUint64))),
			"bad load: id 18446744073709551615 is not a string"},
		{"id is a float", clearOf(payload.M("id", 2.0)), "bad load: id 2.0 is not a string"},
		{"id is true", clearOf(payload.M("id", true)), "bad load: id True is not a string"},
		{"id is nil", clearOf(payload.M("id", nil)), "bad load: id None is not a string"},
		{"id is a list", clearOf(payload.M("id", []any{"m1"})), payload.TextBadLoad},
		{"id is a map", clearOf(payload.M("id", payload.M())), payload.TextBadLoad},
		{"unknown enc", with(clearOf(payload.M("cmd", "ping")), func(r *payload.Request) {
			r.Enc = "pub"
		}), payload.TextBadLoad},
		{"no enc", with(clearOf(payload.M("cmd", "ping")), func(r *payload.Request) {
			r.Enc = ""
		}), payload.TextBadLoad},
		{"aes, a map in place of a ciphertext", with(c.v3(), func(r *payload.Request) {
			r.Load = payload.M("cmd", "x")
		}), payload.TextBadLoad},
		{"aes, nil", with(c.v3(), func(r *payload.Request) { r.Load = nil }), payload.TextBadLoad},
		{"aes, too short", with(c.v3(), func(r *payload.Request) { r.Load = []byte("x") }), payload.TextBadLoad},
		{"aes, malformed load", with(c.v3(), func(r *payload.Request) {
			box, _ := crypt.NewBox(c.at.sessions.key["m1"])
			r.Load = box.Seal([]byte{0xc1}, "")
		}), payload.TextBadLoad},
		{"v3, load is no map", with(c.v3(), func(r *payload.Request) {
			r.Load = c.seal(c.at.sessions.key["m1"], []any{1})
		}), payload.TextNotDict},
		{"v3, shared key", with(c.v3(), func(r *payload.Request) {
			r.Load = c.seal(c.at.SharedKey(), payload.M("id", "m1"))
		}), payload.TextBadLoad},
		{"v2, session key", with(c.v3(), func(r *payload.Request) { r.Version = 2 }), payload.TextBadLoad},
		{"v3, envelope id missing", with(c.v3(), func(r *payload.Request) { r.ID = nil }), payload.TextBadLoad},
		{"v3, envelope id a number", with(c.v3(), func(r *payload.Request) { r.ID = int64(5) }), payload.TextBadLoad},
		{"v3, envelope id a list", with(c.v3(), func(r *payload.Request) { r.ID = []any{"m1"} }), payload.TextBadLoad},
		{"v3, envelope id invalid", with(c.v3(), func(r *payload.Request) { r.ID = "../m1" }), payload.TextBadLoad},
		{"v3, envelope id unknown", with(c.v3(), func(r *payload.Request) { r.ID = "m2" }), payload.TextBadLoad},
		{"v3, another load id", c.v3("id", "m2"), payload.TextBadLoad},
		{"v3, no load id", c.v3("id", nil), payload.TextBadLoad},
		{"v3, tok missing", c.v3("tok", nil), payload.TextBadLoad},
		{"v3, tok of another key", c.v3("tok", other), payload.TextBadLoad},
		{"v3, tok too short", c.v3("tok", "x"), payload.TextBadLoad},
		{"v3, tok empty", c.v3("tok", ""), payload.TextBadLoad},
		{"v3, tok a number", c.v3("tok", 5), payload.TextBadLoad},
		{"v3, ts missing", c.v3("ts", nil), payload.TextBadLoad},
		{"v3, ts a text", c.v3("ts", "5"), payload.TextBadLoad},
		{"v3, ts NaN", c.v3("ts", math.NaN()), payload.TextBadLoad},
		{"v3, ts too old", c.v3("ts", testTime.Unix()-61), payload.TextBadLoad},
		{"v3, ts old enough", c.v3("ts", float64(testTime.Unix())-59.5), ""},
		{"v3, ts in the future", c.v3("ts", testTime.Unix()+1e6), ""},
		{"v3, no nonce", c.v3("nonce", nil), ""},
		{"v3, nonce a number", c.v3("nonce", 5), payload.TextBadLoad},
		{"v2, bad tok", c.v2("cmd", "x", "id", "m1", "tok", other), payload.TextBadLoad},
		{"v2, tok a number", c.v2("cmd", "x", "id", "m1", "tok", 5), payload.TextBadLoad},
		{"v2, tok of an unknown id", c.v2("cmd", "x", "id", "m2", "tok", c.tok), payload.TextBadLoad},
		{"v2, tok of an invalid id", c.v2("cmd", "x", "id", "", "tok", c.tok), payload.TextBadLoad},
		{"v2, tok without id", c.v2("cmd", "x", "tok", c.tok), ""},
		{"v2, id without tok", c.v2("cmd", "x", "id", "m2"), ""},
		{"v2, nothing", c.v2(), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, refuse := c.at.OpenRequest(tt.req, testTime)
			if (o == nil) == (refuse == nil) {
				t.Fatalf("got both or none: %v, %q", o, refuse)
			}
			got := ""
			if refuse != nil {
				got, _ = unmarshal(t, refuse).(string)
			}
			if got != tt.want {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
			if o == nil {
				return
			}
			if o.Load.Has("tok") || (o.Version > 1 && o.Load.Has("nonce")) {
				t.Errorf("load %v", o.Load)
			}
			if o.TokenOK != (o.Version == 3 && !o.Clear) {
				t.Errorf("TokenOK is %v", o.TokenOK)
			}
		})
	}
}

func TestMinimumAuthVersion(t *testing.T) {
	c := acceptedAt(t, nil)
	for _, tt := range []struct {
		minimum, version int
		want             bool
	}{{3, 2, false}, {3, 3, true}, {2, 1, false}, {2, 2, true}, {0, 0, true}} {
		c.at.opt.MinimumAuthVersion = tt.minimum
		req := &payload.Request{Enc: payload.EncClear, Version: tt.version, Load: payload.M("cmd", "ping")}
		if o, _ := c.at.OpenRequest(req, testTime); (o != nil) != tt.want {
			t.Errorf("version %d with minimum %d: served is %v", tt.version, tt.minimum, o != nil)
		}
		req.Load = payload.M("cmd", payload.CmdAuth, "id", "m1", "nonce", "n", "pub", keysOf(t).pub("minion"))
		if reply, _ := c.at.Handle(req, testTime); (string(reply) != string(packText(payload.TextBadLoad))) != tt.want {
			t.Errorf("sign-in of version %d with minimum %d: %.40q", tt.version, tt.minimum, reply)
		}
	}
}

// TestDeletionRevokesAtOnce: no cached state outlives a key.
func TestDeletionRevokesAtOnce(t *testing.T) {
	c := acceptedAt(t, nil)
	served := func() bool {
		o, _ := c.at.OpenRequest(c.v3(), testTime)
		return o != nil
	}
	accept := func(pub string) { // with a session of its own
		t.Helper()
		err := c.at.keys.Put("m1", StateAccepted, pub)
		if err = errors.Join(err, c.at.sessions.Create("m1", pub, crypt.NewKeyString(), testTime)); err != nil {
			t.Fatal(err)
		}
	}
	if !served() || len(c.at.peers.byID) != 1 {
		t.Fatal("a good request is refused, or its token is not remembered")
	}
	c.at.keys.remove("m1")
	if served() || len(c.at.peers.byID) != 0 {
		t.Error("served after the key was deleted, or the token is still remembered")
	}
	if err := c.at.keys.Put("m1", StateAccepted, keysOf(t).pub("other")); err != nil {
		t.Fatal(err)
	}
	if served() {
		t.Error("served in the session of the key before")
	}
	if c.at.sessions.len() != 0 {
		t.Error("the session of the key before goes on")
	}
	accept(keysOf(t).pub("other"))
	if served() {
		t.Error("served with the token of the key before")
	}
	accept("garbage")
	if served() {
		t.Error("served with a stored key that is none")
	}
	accept(keysOf(t).pub("minion"))
	if !served() {
		t.Error("refused after the key came back")
	}
	if err := c.at.Revoke("m1"); err != nil || c.at.sessions.len() != 0 {
		t.Errorf("Revoke: %v, %d sessions", err, c.at.sessions.len())
	}
	if err := c.at.Revoke("../m1"); err != nil {
		t.Errorf("Revoke of an invalid id: %v", err)
	}
}

func TestSessionsOnlyForAcceptedKeys(t *testing.T) {
	c := acceptedAt(t, nil)
	for _, id := range []string{"nobody", "m2", "../x"} {
		req := c.v3()
		req.ID = id
		if o, _ := c.at.OpenRequest(req, testTime); o != nil {
			t.Errorf("%s is served", id)
		}
	}
	if c.at.sessions.len() != 1 {
		t.Errorf("%d sessions", c.at.sessions.len())
	}
	old := testTime.Add(-25 * time.Hour)
	c.at.sessions.made["m1"] = old
	if o, _ := c.at.OpenRequest(c.v3(), testTime); o != nil {
		t.Error("served under a session that is too old")
	}
	before := c.at.sessions.key["m1"]
	m, _ := newMinion(t, nil)
	step, out := signInAt(t, m, c.at)
	if step.Verdict != Accepted || !out.Session || c.at.sessions.key["m1"] == before {
		t.Errorf("sign-in with an old session: %+v, %+v", step, out)
	}
}

func TestReturnsBySignature(t *testing.T) {
	for _, tt := range []struct {
		name          string
		require, drop bool
		sig           any
		accept        bool
		want          error
	}{
		{"unsigned", false, true, nil, true, nil},
		{"unsigned, required", true, false, nil, false, ErrUnsigned},
		{"bad", true, false, "x", true, nil},
		{"bad, dropped", false, true, "x", false, crypt.ErrBadSignature},
		{"odd", false, true, 5, false, crypt.ErrBadSignature},
	} {
		c := acceptedAt(t, func(o *MasterOptions) { o.RequireSignature, o.DropBadSignature = tt.require, tt.drop })
		o, _ := c.at.OpenRequest(c.v3("sig", tt.sig), testTime)
		if ok, err := c.at.VerifyReturn(o); ok != tt.accept || !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, %v", tt.name, ok, err)
		}
	}
}

func TestSerialsRunOut(t *testing.T) {
	at := newMaster(t, nil)
	before := at.SharedKey()
	at.shared.Load().serial.Store(math.MaxInt64 - 2)
	for i, rotated := range []bool{false, true, true} {
		frame, err := at.SealPublication(payload.M("fun", "f"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := payload.DecodePublication(frame)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := at.shared.Load().box.Open(p.Load, ""); err != nil || (at.SharedKey() != before) != rotated {
			t.Errorf("publication %d: %v, rotated %v", i, err, at.SharedKey() != before)
		}
	}
}

func TestNewMasterRefuses(t *testing.T) {
	good := newMaster(t, nil).opt
	for name, change := range map[string]func(*MasterOptions){
		"no key":       func(o *MasterOptions) { o.Key = nil },
		"no keys":      func(o *MasterOptions) { o.Keys = nil },
		"no sessions":  func(o *MasterOptions) { o.Sessions = nil },
		"publish algo": func(o *MasterOptions) { o.PublishSigAlgo = "x" },
		"return algo":  func(o *MasterOptions) { o.SigningAlgorithm = "x" },
	} {
		opt := good
		change(&opt)
		if _, err := NewMaster(opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
