package auth

import (
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestSignInBounds: what no minion sends is refused before it is stored, and no name of it gets out.
func TestSignInBounds(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for _, tt := range []struct {
		field string
		value any
	}{
		{"id", long}, {"id", "a\nb"}, {"pub", long}, {"nonce", long}, {"nonce", []any{"x"}}, {"nonce", payload.M("a", 1)},
		{"token", []byte(long)}, {"enc_algo", long}, {"sig_algo", long}, {"autosign_grains", manyGrains()},
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

// TestGate: where a new key may not be stored its minion is told to wait, and asks again.
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
		_, out := at.Handle(&payload.Request{Enc: payload.EncClear, Version: 3, Load: signInLoad(t, "m1", "minion"), From: "10.0.0.1"}, testTime)
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
