package auth

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// TestPairBoxes: a reply for OpenShared comes in a GCM box if both sides are brine and speak version 3, else in Salt's
// box. The field for it never reaches a handler, and a minion never sends it to another master.
func TestPairBoxes(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*MinionOptions)
		load   *payload.Map // with the minion's own Seal; nil: with SealShared
		gcm    bool
	}{
		"shared":      {gcm: true},
		"signed":      {change: func(o *MinionOptions) { o.SignMessages = true }, gcm: true},
		"version 2":   {change: func(o *MinionOptions) { o.MaxVersion = 2 }},
		"not shared":  {load: payload.M("cmd", "_serve_file")},
		"another box": {load: payload.M("cmd", "_serve_file", fieldBox, "rot13")},
	} {
		t.Run(name, func(t *testing.T) {
			at := newMaster(t, func(o *MasterOptions) { o.OpenMode, o.MinimumAuthVersion = true, 2 })
			m, _ := newMinion(t, tt.change)
			signInAt(t, m, at)
			seal, load := m.SealShared, payload.M("cmd", "_serve_file", "path", "p")
			if tt.load != nil {
				seal, load = m.Seal, tt.load
			}
			frame, nonce, err := seal(load)
			if err != nil {
				t.Fatal(err)
			}
			o, refuse := at.OpenRequest(decodeRequest(t, frame), testTime)
			if refuse != nil {
				t.Fatalf("refused: %q", refuse)
			}
			if o.Load.Has(fieldBox) && name != "version 2" {
				t.Errorf("a handler sees %v", o.Load)
			}
			packed := marshal(t, payload.M("data", strings.Repeat("t", 9000)))
			reply, _, err := o.SealIn(nil, nil, func(dst []byte) ([]byte, error) { return append(dst, packed...), nil })
			if err != nil {
				t.Fatal(err)
			}
			v, err := payload.Unmarshal(reply)
			if got := bytes.HasPrefix(payload.AsBytes(v), []byte("brine\x00")); err != nil || got != tt.gcm {
				t.Errorf("GCM is %v, want %v (%v)", got, tt.gcm, err)
			}
			if tt.gcm {
				if _, err := m.OpenShared(bytes.Clone(reply), newNonce(), nil); !errors.Is(err, ErrReauth) {
					t.Errorf("as the answer to another request: %v", err)
				}
			}
			got, err := m.OpenShared(reply, nonce, nil)
			if err != nil || len(got.(*payload.Map).Bytes("data")) != 9000 {
				t.Errorf("got %.40v, %v", got, err)
			}
		})
	}
}

// TestSharedBoxOfBefore: a GCM box that was under way during a sign-in opens with the previous session.
func TestSharedBoxOfBefore(t *testing.T) {
	m, _ := newMinion(t, nil)
	key, nonce := crypt.NewKeyString(), newNonce()
	signedInto(t, m, key, 3)
	box, err := crypt.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	o := &Opened{box: box, nonce: nonce, gcm: true}
	packed := marshal(t, payload.M("data", strings.Repeat("t", 9000)))
	reply, _, err := o.SealIn(nil, nil, func(dst []byte) ([]byte, error) { return append(dst, packed...), nil })
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	m.previous = m.creds
	m.mu.Unlock()
	signedInto(t, m, crypt.NewKeyString(), 3)
	if v, err := m.OpenShared(reply, nonce, nil); err != nil || len(v.(*payload.Map).Bytes("data")) != 9000 {
		t.Errorf("got %.40v, %v", v, err)
	}
}

// TestNoBoxForSalt: a request to a master that is not brine has the same fields as those of Salt's minions.
func TestNoBoxForSalt(t *testing.T) {
	m, _ := newMinion(t, nil)
	key := crypt.NewKeyString()
	signedInto(t, m, key, 3) // not by a brine acceptance
	frame, _, err := m.SealShared(payload.M("cmd", "_serve_file"))
	if err != nil {
		t.Fatal(err)
	}
	box, err := crypt.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := box.Open(payload.AsBytes(decodeRequest(t, frame).Load), "")
	if err != nil {
		t.Fatal(err)
	}
	load, err := payload.UnmarshalMap(packed)
	if err != nil || load.Has(fieldBox) {
		t.Errorf("got %v, %v", load, err)
	}
}
