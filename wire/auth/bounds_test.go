package auth

import (
	"strings"
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// TestSignInBounds: a value that no minion sends is refused before it is stored, and its text is not passed on.
func TestSignInBounds(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for _, tt := range []struct {
		field string
		value any
	}{
		{"id", long}, {"id", "a\nb"}, {"pub", long}, {"nonce", long}, {"nonce", []any{"x"}},
		{"nonce", payload.M("a", 1)}, {"token", []byte(long)}, {"enc_algo", long}, {"sig_algo", long},
		{"autosign_grains", manyGrains()},
	} {
		at := newMaster(t, nil)
		load := signInLoad(t, "m1", "minion").Set(tt.field, tt.value)
		reply, out := at.Handle(&payload.Request{Enc: payload.EncClear, Version: 3, Load: load}, testTime)
		if out.Result || out.Act != "" || len(out.ID) > payload.MaxID || len(out.Reason) > 1000 || len(reply) > 4096 {
			t.Errorf("%s: got %+v, a reply of %d bytes", tt.field, out.Reason, len(reply))
		}
		if state, _, _ := at.opt.Keys.Get("m1"); state != StateNone {
			t.Errorf("%s: a key was stored", tt.field)
		}
	}
}

func manyGrains() *payload.Map {
	m := payload.NewMap(maxGrains + 1)
	for i := range maxGrains + 1 {
		m.Set(int64(i), "x")
	}
	return m
}

// TestGate: if a new key may not be stored, its minion gets the answer to wait, and asks again.
func TestGate(t *testing.T) {
	full := "too many"
	asked := 0
	at := newMaster(t, func(o *MasterOptions) {
		o.Admit = func(from string, pending bool) string {
			if asked++; from != "10.0.0.1" || !pending {
				t.Errorf("asked for %q, pending %v", from, pending)
			}
			return full
		}
	})
	try := func() Outcome {
		_, out := at.Handle(&payload.Request{Enc: payload.EncClear, Version: 3, Load: signInLoad(t, "m1", "minion"),
			From: "10.0.0.1"}, testTime)
		return out
	}
	if out := try(); !out.Result || out.Act != "" || out.Reason != full {
		t.Errorf("got %+v", out)
	}
	if state, _, _ := at.opt.Keys.Get("m1"); state != StateNone {
		t.Error("the key was stored")
	}
	full = ""
	if out := try(); out.Act != ActPend {
		t.Errorf("with room: got %+v", out)
	}
	if try(); asked != 2 {
		t.Errorf("asked %d times: a key that is stored takes no room", asked)
	}
}

// TestNameBounds: an authentic request with a name that is too long gets a final answer, and its minion does not sign
// in again. A request that any peer may have sent is refused in clear.
func TestNameBounds(t *testing.T) {
	c := acceptedAt(t, func(o *MasterOptions) { o.MinimumAuthVersion = 0 })
	nonce := strings.Repeat("0", 32)
	for _, f := range loadLimits {
		long := strings.Repeat("9", f.max+1)
		if o, refuse := c.at.OpenRequest(c.v3(f.name, long[:f.max]), testTime); o == nil {
			t.Errorf("%s of %d bytes: refused with %q", f.name, f.max, refuse)
		}
		o, refuse := c.at.OpenRequest(c.v3(f.name, long, "nonce", nonce), testTime)
		if o != nil {
			t.Fatalf("%s of %d bytes is served", f.name, len(long))
		}
		if o, _ := c.at.OpenRequest(c.v3(f.name, []byte(long)), testTime); o != nil {
			t.Errorf("%s of %d bytes that are no text is served", f.name, len(long))
		}
		box, err := crypt.NewBox(c.at.sessions.key["m1"])
		if err != nil {
			t.Fatal(err)
		}
		packed, err := box.Open(unmarshal(t, refuse).([]byte), nonce)
		if err != nil || unmarshal(t, packed) != nil {
			t.Errorf("%s: the answer is %q, %v", f.name, packed, err)
		}
		_, refuse = c.at.OpenRequest(c.v3(f.name, long, "tok", nil), testTime)
		if unmarshal(t, refuse) != payload.TextBadLoad {
			t.Errorf("%s without a token: %q", f.name, refuse)
		}
	}
	if _, refuse := c.at.OpenRequest(c.v2("cmd", "x", "id", strings.Repeat("a", payload.MaxID+1)), testTime); unmarshal(
		t, refuse) != payload.TextBadLoad {
		t.Errorf("a long id: %q", refuse)
	}
}
