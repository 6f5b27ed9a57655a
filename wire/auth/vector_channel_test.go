package auth

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

func publications(t testing.TB) (list []wiretest.Publication) {
	t.Helper()
	for _, f := range wiretest.LoadAll(t, wiretest.PublishFiles()...) {
		for _, p := range f.Publications() {
			if p.Load != nil && p.Key != "" {
				list = append(list, p)
			}
		}
	}
	if len(list) < 100 {
		t.Fatalf("only %d recorded publications", len(list))
	}
	return list
}

// TestMinionOpensRecordedPublications opens every recorded publication; for signed ones checking is on.
func TestMinionOpensRecordedPublications(t *testing.T) {
	for _, p := range publications(t) {
		t.Run(p.File+"/"+p.Release+"/"+p.Step, func(t *testing.T) {
			envelope, err := payload.DecodePublication(p.Payload())
			if err != nil {
				t.Fatal(err)
			}
			m, _ := newMinion(t, func(o *MinionOptions) { o.SignPubMessages = envelope.Sig != nil })
			signedInto(t, m, p.Key, 3)
			want := p.Load.Clone()
			want.Delete("serial")
			if got, err := m.OpenPublication(p.Payload()); err != nil || !got.Equal(want) {
				t.Fatalf("got %v, %v, want %v", got, err, want)
			}
			if _, err := m.OpenPublication(p.Payload()); p.Load.Has("serial") && !errors.Is(err, ErrIgnore) {
				t.Errorf("once more: %v, want ErrIgnore", err)
			}
			m.opt.SignPubMessages = true
			envelope.Sig = nil
			unsigned, err := envelope.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.OpenPublication(unsigned); !errors.Is(err, crypt.ErrBadSignature) {
				t.Errorf("unsigned: %v, want ErrBadSignature", err)
			}
		})
	}
}

// TestMasterMakesRecordedPublications seals every recorded job again: the plaintext, the envelope and, over the
// recorded ciphertext, the signature are the same.
func TestMasterMakesRecordedPublications(t *testing.T) {
	m := newMaster(t, nil)
	for _, p := range publications(t) {
		t.Run(p.File+"/"+p.Release+"/"+p.Step, func(t *testing.T) {
			if err := m.setShared(p.Key); err != nil {
				t.Fatal(err)
			}
			serial, _ := p.Load.Int("serial")
			m.shared.Load().serial.Store(serial - 1)
			load := p.Load.Clone()
			load.Delete("serial")
			frame, err := m.SealPublication(load)
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := unmarshal(t, frame).(*payload.Map), unmarshal(t, p.Payload()).(*payload.Map)
			if p.Doc.Has("release") && theirs.Has("sig") && !payload.Equal(ours.Keys(), theirs.Keys()) {
				t.Errorf("envelope %v, want %v", ours.Keys(), theirs.Keys())
			}
			box := m.shared.Load().box
			got, errOurs := box.Open(ours.Bytes("load"), "")
			want, errTheirs := box.Open(theirs.Bytes("load"), "")
			if errOurs != nil || errTheirs != nil || !bytes.Equal(got, want) {
				t.Errorf("plaintext %x, %v, want %x, %v", got, errOurs, want, errTheirs)
			}
			if !theirs.Has("sig") {
				return
			}
			algo := orDefault(theirs.Str("sig_algo"), crypt.PKCS1v15SHA1)
			if sig, err := m.opt.Key.Sign(algo, theirs.Bytes("load")); err != nil ||
				!bytes.Equal(sig, theirs.Bytes("sig")) {
				t.Errorf("signature with %s differs, %v", algo, err)
			}
		})
	}
}

// bare is a recorded load before the channel has completed it.
func bare(load *payload.Map, version int) *payload.Map {
	out := load.Clone()
	for _, key := range []string{"nonce", "sig"} {
		out.Delete(key)
	}
	if version < 3 {
		return out
	}
	behind := false // after the nonce come fields of the channel; before it, a command may have set tok and id itself
	for _, key := range load.Keys() {
		if behind && (key == "ts" || key == "tok" || key == "id") {
			out.Delete(key)
		}
		behind = behind || key == "nonce"
	}
	return out
}

// TestMinionCompletesRecordedLoads packs the loads of live v3 minions again: the bytes are the same, including
// signatures.
func TestMinionCompletesRecordedLoads(t *testing.T) {
	seen, signed := 0, 0
	for _, e := range requests(t) {
		load := e.Request.Load
		req := decodeRequest(t, e.Request.Frame)
		if req.Version != 3 || e.Step == "" || !load.Has("tok") {
			continue
		}
		seen++
		t.Run(e.File+"/"+e.Release+"/"+e.Name, func(t *testing.T) {
			ts, _ := load.Int("ts")
			m, _ := newMinion(t, func(o *MinionOptions) {
				o.Now = func() time.Time { return time.Unix(ts, 0) }
				o.SignMessages = load.Has("sig")
			})
			if load.Has("sig") {
				signed++
			}
			got, err := m.complete(&creds{version: 3}, bare(load, 3), load.Str("nonce"))
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(load) || !bytes.Equal(marshal(t, got), marshal(t, load)) {
				t.Errorf("got %v, want %v, or other values", got.Keys(), load.Keys())
			}
		})
	}
	if seen < 80 || signed < 5 {
		t.Errorf("only %d loads, %d of them signed", seen, signed)
	}
}

// TestMinionCompletesOldLoads does the same for live minions of version 2, whose commands set tok themselves. Loads
// without it get the same fields.
func TestMinionCompletesOldLoads(t *testing.T) {
	seen, signed := 0, 0
	for _, e := range requests(t) {
		load := e.Request.Load
		req := decodeRequest(t, e.Request.Frame)
		if req.Version != 2 || e.Step == "" || e.Label != "" || load == nil || load.Str("id") == "syn1" {
			continue
		}
		if e.Release == "3007" && load.Has("sig") {
			continue // it adds _stamp after signing
		}
		seen++
		t.Run(e.File+"/"+e.Release+"/"+e.Name, func(t *testing.T) {
			m, _ := newMinion(t, func(o *MinionOptions) { o.SignMessages = load.Has("sig") })
			if load.Has("sig") {
				signed++
			}
			got, err := m.complete(&creds{version: 2}, bare(load, 2), load.Str("nonce"))
			if err != nil || !got.Equal(load) {
				t.Errorf("got %v, want %v, or other values, %v", got.Keys(), load.Keys(), err)
			}
			stripped := bare(load, 2)
			stripped.Delete("tok")
			stripped.Delete("id")
			if got, err = m.complete(&creds{version: 2}, stripped, "n"); err != nil {
				t.Fatal(err)
			}
			if got.Has("id") != load.Has("id") || got.Has("tok") != load.Has("tok") || got.Len() != load.Len() {
				t.Errorf("without tok and id: %v, want %v", got.Keys(), load.Keys())
			}
		})
	}
	if seen < 80 || signed < 2 {
		t.Errorf("only %d loads, %d of them signed", seen, signed)
	}
}

// TestMinionSealsInRecordedEnvelopes seals one load for each protocol version and compares the envelope with the
// recorded ones.
func TestMinionSealsInRecordedEnvelopes(t *testing.T) {
	key := crypt.NewKeyString()
	for version, want := range map[int]*payload.Map{
		3: payload.M("enc", "aes", "load", nil, "version", 3, "id", "m1", "enc_algo", crypt.OAEPSHA1, "sig_algo",
			crypt.PKCS1v15SHA1),
		2: payload.M("enc", "aes", "load", nil, "version", 2, "enc_algo", crypt.OAEPSHA1, "sig_algo",
			crypt.PKCS1v15SHA1),
	} {
		m, _ := newMinion(t, nil)
		signedInto(t, m, key, version)
		in := payload.M("cmd", payload.CmdMine, "data", 1)
		frame, nonce, err := m.Seal(in)
		if err != nil {
			t.Fatal(err)
		}
		got := unmarshal(t, frame).(*payload.Map)
		packed, err := m.creds.session.Open(got.Bytes("load"), "")
		if err != nil {
			t.Fatal(err)
		}
		if !got.Set("load", nil).Equal(want) {
			t.Errorf("version %d: envelope %v, want %v", version, got, want)
		}
		wantLoad := payload.M("cmd", payload.CmdMine, "data", 1, "nonce", nonce, "ts", testTime.Unix(), "tok",
			m.Token(), "id", "m1")
		if version == 2 {
			wantLoad = payload.M("cmd", payload.CmdMine, "data", 1, "id", "m1", "tok", m.Token(), "nonce", nonce)
		}
		if load := unmarshal(t, packed); !payload.Equal(load, wantLoad) {
			t.Errorf("version %d: load %v, want %v", version, load, wantLoad)
		}
		if in.Len() != 2 {
			t.Errorf("version %d: Seal changed its argument: %v", version, in)
		}
	}
}

// TestMasterVerifiesRecordedReturns verifies every signed _return, those of 3007 with the stamp that was added after
// signing, and detects a changed one.
func TestMasterVerifiesRecordedReturns(t *testing.T) {
	m, byName := newMaster(t, func(o *MasterOptions) { o.DropBadSignature, o.RequireSignature = true, true }), files(t)
	if err := m.keys.Put("m1", StateAccepted, keysOf(t).pub("minion")); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range requests(t) {
		if !e.Request.Load.Has("sig") || e.Request.Load.Str("cmd") != payload.CmdReturn {
			continue
		}
		seen++
		t.Run(e.File+"/"+e.Release+"/"+e.Name, func(t *testing.T) {
			open := func() *Opened {
				rig, now := rigFor(t, m, byName, e)
				o, refuse := rig.OpenRequest(decodeRequest(t, e.Request.Frame), now)
				if o == nil {
					t.Fatalf("refused: %q", refuse)
				}
				return o
			}
			o := open()
			if ok, err := m.VerifyReturn(o); !ok || err != nil {
				t.Errorf("got %v, %v", ok, err)
			}
			if o.Load.Has("sig") || (e.Request.Load.Has("_stamp") && !o.Load.Has("_stamp")) {
				t.Errorf("load after the check: %v", o.Load)
			}
			o = open()
			o.Load.Set("return", "changed")
			if ok, err := m.VerifyReturn(o); ok || !errors.Is(err, crypt.ErrBadSignature) {
				t.Errorf("changed: got %v, %v", ok, err)
			}
		})
	}
	if seen < 5 {
		t.Errorf("only %d signed returns", seen)
	}
}
