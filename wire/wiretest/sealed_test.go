package wiretest_test

import (
	"bytes"
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

// TestSealedLoads opens every recorded ciphertext with a known key and packs the recorded value. The plaintext must be
// the same, byte for byte.
func TestSealedLoads(t *testing.T) {
	loads, replies := 0, 0
	for _, f := range wiretest.LoadAll(t, wiretest.ExchangeFiles()...) {
		for _, e := range f.Exchanges() {
			name := f.Name + " " + e.Name
			if e.Request.Key != "" && e.Request.Doc.Has("decrypted_load") {
				r, err := payload.DecodeRequest(e.Request.Frame)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				load, _ := r.Load.([]byte)
				checkPlain(t, name+" load", e.Request.Key, load, "", e.Request.Plain)
				loads++
			}
			if e.Reply != nil && e.Reply.Encrypted && e.Reply.Key != "" {
				checkPlain(t, name+" reply", e.Reply.Key, rawOf(t, e.Reply.Frame), e.Reply.Nonce, e.Reply.Decrypted)
				replies++
			}
		}
	}
	if loads < 400 || replies < 350 {
		t.Errorf("only %d loads and %d replies", loads, replies)
	}
}

func rawOf(t *testing.T, frame []byte) []byte {
	t.Helper()
	v, err := payload.Unmarshal(frame)
	if err != nil {
		t.Fatal(err)
	}
	return payload.AsBytes(v)
}

func checkPlain(t *testing.T, name, key string, ciphertext []byte, nonce string, want any) {
	t.Helper()
	box, err := crypt.NewBox(key)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	plain, err := box.Open(ciphertext, nonce)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if packed, err := payload.Marshal(want); err != nil || !bytes.Equal(packed, plain) {
		t.Errorf("%s: %v\n got %x\nwant %x", name, err, packed, plain)
	}
}

func TestSealedPublications(t *testing.T) {
	n := 0
	for _, f := range wiretest.LoadAll(t, wiretest.PublishFiles()...) {
		for _, p := range f.Publications() {
			if p.Load == nil {
				continue
			}
			m, err := payload.DecodePublication(p.Payload())
			if err != nil {
				t.Errorf("%s %s: %v", f.Name, p.Step, err)
				continue
			}
			checkPlain(t, f.Name+" "+p.Step, p.Key, m.Load, "", p.Load)
			n++
		}
	}
	if n != 140 {
		t.Errorf("%d publications, want 140", n)
	}
}

// TestSignedLoads packs the loads of signed sign-in replies and of private pillar replies.
func TestSignedLoads(t *testing.T) {
	signed, pillars := 0, 0
	for _, f := range wiretest.LoadAll(t, wiretest.ExchangeFiles()...) {
		for _, e := range f.Exchanges() {
			if e.Reply == nil {
				continue
			}
			m, _ := payload.UnmarshalMap(e.Reply.Frame)
			if want := e.Reply.SignedLoad; want != nil {
				if packed, err := payload.Marshal(want); err != nil || !bytes.Equal(packed, m.Bytes("load")) {
					t.Errorf("%s %s: %v\n got %x\nwant %x", f.Name, e.Name, err, packed, m.Bytes("load"))
				}
				signed++
			}
			if want := e.Reply.PillarSigned; want.Has("data") {
				checkPlain(t, f.Name+" "+e.Name+" pillar", e.Reply.PillarKey, m.Bytes("pillar"), "", want)
				if packed, err := payload.Marshal(e.Reply.PillarData); err != nil ||
					!bytes.Equal(packed, want.Bytes("data")) {
					t.Errorf("%s %s pillar data: %v\n got %x\nwant %x", f.Name, e.Name, err, packed, want.Bytes("data"))
				}
				pillars++
			}
		}
	}
	if signed < 60 || pillars < 12 {
		t.Errorf("only %d signed loads and %d pillars", signed, pillars)
	}
}
