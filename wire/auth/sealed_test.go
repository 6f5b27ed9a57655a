package auth

import (
	"bytes"
	"fmt"
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// TestSealedKeysAreKept: the ciphertexts of a reply stay the same until their content or their receiver changes.
func TestSealedKeysAreKept(t *testing.T) {
	at := newMaster(t, func(o *MasterOptions) { o.Rules.AcceptAll = true; o.OpenMode = true })
	signIn := func(change ...any) (aes, session, sig []byte) {
		t.Helper()
		load := signInLoad(t, "m1", "minion")
		load.Update(payload.M(change...))
		reply, out := at.Handle(&payload.Request{Enc: payload.EncClear, Version: 3, Load: load}, testTime)
		if out.Act != ActAccept {
			t.Fatalf("%+v", out)
		}
		outer := unmarshal(t, reply).(*payload.Map)
		inner := unmarshal(t, outer.Bytes("load")).(*payload.Map)
		return inner.Bytes("aes"), inner.Bytes("session"), outer.Bytes("sig")
	}
	aes, session, sig := signIn()
	for _, tt := range []struct {
		name         string
		before       func() error
		change       []any
		aes, session bool // whether they stay the same
	}{
		{"again", nil, nil, true, true},
		{"another nonce", nil, []any{"nonce", "b"}, true, true},
		{"another algorithm", nil, []any{"enc_algo", crypt.OAEPSHA224}, false, false},
		{"the first algorithm", nil, nil, false, false},
		{"new shared key", at.Rotate, nil, false, false},
		{"session gone", func() error { return at.sessions.Remove("m1") }, nil, false, false},
		{"revoked", func() error { return at.Revoke("m1") }, nil, false, false},
		{"another key", nil, []any{"pub", keysOf(t).pub("master")}, false, false},
		{"another key again", nil, []any{"pub", keysOf(t).pub("master")}, true, true},
	} {
		if tt.before != nil {
			if err := tt.before(); err != nil {
				t.Fatal(err)
			}
		}
		a, s, g := signIn(tt.change...)
		if bytes.Equal(a, aes) != tt.aes || bytes.Equal(s, session) != tt.session {
			t.Errorf("%s: shared key stays %v, session %v", tt.name, bytes.Equal(a, aes), bytes.Equal(s, session))
		}
		if tt.name == "another nonce" && bytes.Equal(g, sig) {
			t.Errorf("%s: the signature is the same", tt.name)
		}
		aes, session, sig = a, s, g
	}
}

func TestSealedKeysAreBounded(t *testing.T) {
	var k sealedKeys
	for i := range 3 * maxSealed {
		k.set(fmt.Sprint("m", i), sealedKey{})
	}
	if n := len(k.byID); n > maxSealed || n == 0 {
		t.Errorf("%d are kept", n)
	}
}
