package auth

import (
	"bytes"
	"testing"
	"time"

	"brine/wire/crypt"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

// requests returns the recorded requests that are not sign-ins and decode to an envelope.
func requests(t testing.TB) (list []wiretest.Exchange) {
	t.Helper()
	for _, f := range wiretest.LoadAll(t, wiretest.ExchangeFiles()...) {
		for _, e := range f.Exchanges() {
			if req, err := payload.DecodeRequest(e.Request.Frame); err == nil && !IsSignIn(req) {
				list = append(list, e)
			}
		}
	}
	if len(list) < 500 {
		t.Fatalf("only %d recorded requests", len(list))
	}
	return list
}

// badLoads are requests that brine refuses: requests that block real masters or get different answers from them, and
// requests with an age limit.
var badLoads = map[string]bool{
	"unknown_enc_ping":      true,
	"unknown_enc_file_envs": true,
	"clear_id_list":         true,
	"v3_load_id_missing":    true,
	"v3_tok_int":            true,
	"v3_ts_text":            true,
	"v3_ts_missing":         true,
}

// wantedRefusal returns the text with which a master must refuse a recorded request, or "" if it serves it.
func wantedRefusal(e wiretest.Exchange, req *payload.Request, token []byte) string {
	if badLoads[e.Name] {
		return payload.TextBadLoad
	}
	if req.Enc == payload.EncAES && req.Version < 3 && minimumVersion(e) < 3 && wrongToken(e, token) {
		return payload.TextBadLoad // old releases answer {}
	}
	if e.Reply == nil {
		return ""
	}
	text, _ := e.Reply.Decoded.(string)
	if text == payload.TextHandlerFailed {
		return "" // the command's handler refuses it
	}
	return text
}

func wrongToken(e wiretest.Exchange, token []byte) bool {
	tok := e.Request.Load.Bytes("tok")
	return tok != nil && e.Request.Load.Has("id") && !bytes.Equal(tok, token)
}

// rigFor returns a master with the keys of a recorded request, and the time of the request.
func rigFor(t testing.TB, m masterRig, f map[string]*wiretest.File, e wiretest.Exchange) (masterRig, time.Time) {
	t.Helper()
	m.opt.MinimumAuthVersion = minimumVersion(e)
	m.opt.RequestServerTTL = 0
	now := testTime
	if e.Name == "v3_ts_old" || e.Name == "v3_ts_text" || e.Name == "v3_ts_missing" {
		m.opt.RequestServerTTL, now = time.Hour, time.Unix(1795228147, 0)
	}
	file := f[e.File]
	if shared := file.SharedKeys(e.Release); len(shared) > 0 {
		key := shared[0]
		if e.Request.KeyName == "shared" && e.Request.Key != "" {
			key = e.Request.Key
		}
		if err := m.setShared(key); err != nil {
			t.Fatal(err)
		}
	}
	if session := file.SessionKeys(e.Release); len(session) > 0 {
		key := session[0]
		if e.Request.KeyName == "session" && e.Request.Key != "" {
			key = e.Request.Key
		}
		m.sessions.key["m1"], m.sessions.made["m1"], m.sessions.pub["m1"] = key, now, keysOf(t).pub("minion")
	}
	return m, now
}

func files(t testing.TB) map[string]*wiretest.File {
	t.Helper()
	out := map[string]*wiretest.File{}
	for _, f := range wiretest.LoadAll(t, wiretest.ExchangeFiles()...) {
		out[f.Name] = f
	}
	return out
}

// stripped is a recorded load in the form for a handler.
func stripped(load *payload.Map, req *payload.Request) *payload.Map {
	load = load.Clone()
	if req.Enc == payload.EncAES {
		load.Delete("tok")
		if req.Version > 1 {
			load.Delete("nonce")
		}
	}
	return load
}

// TestMasterOpensRecordedRequests opens every recorded request to its recorded content, or refuses it with the recorded
// text. It seals every recorded answer so that it opens with the recorded key and nonce.
func TestMasterOpensRecordedRequests(t *testing.T) {
	token, err := crypt.TokenOf(keysOf(t).private("minion"))
	if err != nil {
		t.Fatal(err)
	}
	m, byName := newMaster(t, nil), files(t)
	if err := m.keys.Put("m1", StateAccepted, keysOf(t).pub("minion")); err != nil {
		t.Fatal(err)
	}
	served := 0
	for _, e := range requests(t) {
		t.Run(e.File+"/"+e.Release+"/"+e.Name, func(t *testing.T) {
			rig, now := rigFor(t, m, byName, e)
			req := decodeRequest(t, e.Request.Frame)
			want := wantedRefusal(e, req, token)
			o, refuse := rig.OpenRequest(req, now)
			if want != "" {
				if o != nil || !bytes.Equal(refuse, packText(want)) {
					t.Fatalf("got %v, %q, want the text %q", o, refuse, want)
				}
				return
			}
			if o == nil {
				t.Fatalf("refused: %q", refuse)
			}
			served++
			checkOpened(t, e, req, o)
		})
	}
	if served < 400 {
		t.Errorf("only %d requests were served", served)
	}
}

func checkOpened(t *testing.T, e wiretest.Exchange, req *payload.Request, o *Opened) {
	t.Helper()
	load := e.Request.Load
	if load == nil {
		load = loadOf(e)
	}
	if want := stripped(load, req); !o.Load.Equal(want) {
		t.Errorf("load: got %v, want %v", o.Load, want)
	}
	if o.ID != load.Str("id") || o.Cmd != load.Str("cmd") || o.Clear != (req.Enc == payload.EncClear) {
		t.Errorf("got id %q, cmd %q, clear %v", o.ID, o.Cmd, o.Clear)
	}
	if e.Reply == nil || !e.Reply.Encrypted || o.Cmd == payload.CmdPillar {
		return
	}
	box, err := crypt.NewBox(e.Reply.Key)
	if err != nil {
		t.Fatal(err)
	}
	sealed := payload.AsBytes(unmarshal(t, o.Seal(marshal(t, e.Reply.Decrypted))))
	packed, err := box.Open(sealed, e.Reply.Nonce)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := box.Open(payload.AsBytes(unmarshal(t, e.Reply.Frame)), e.Reply.Nonce)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(packed, recorded) {
		t.Errorf("our reply holds %x, the recorded one %x", packed, recorded)
	}
}

// signedInto gives a minion the keys of a recorded exchange.
func signedInto(t testing.TB, m *Minion, key string, version int) {
	t.Helper()
	box, err := crypt.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	m.creds = &creds{
		sharedText: key, sessionText: key, shared: box, session: box, version: version, serial: &serial{},
		masterKey: keysOf(t).private("master").Public(),
	}
}

// TestMinionOpensRecordedReplies opens every recorded sealed reply and pillar.
func TestMinionOpensRecordedReplies(t *testing.T) {
	replies, pillars := 0, 0
	for _, e := range requests(t) {
		r := e.Reply
		if r == nil || (!r.Encrypted && r.PillarData == nil) {
			continue
		}
		t.Run(e.File+"/"+e.Release+"/"+e.Name, func(t *testing.T) {
			req := decodeRequest(t, e.Request.Frame)
			m, _ := newMinion(t, func(o *MinionOptions) { o.EncAlgo, o.SigAlgo = knownOnly(e, req) })
			if r.PillarData != nil {
				pillars++
				signedInto(t, m, e.Request.Key, req.Version)
				got, err := m.OpenPillar(r.Frame, e.Request.Load.Str("nonce"))
				if err != nil || !got.Equal(r.PillarData.Map("pillar")) {
					t.Errorf("pillar: got %v, %v", got, err)
				}
				return
			}
			replies++
			signedInto(t, m, r.Key, req.Version)
			if got, err := m.Open(r.Frame, r.Nonce); err != nil || !payload.Equal(got, r.Decrypted) {
				t.Errorf("got %v, %v, want %v", got, err, r.Decrypted)
			}
		})
	}
	if replies < 250 || pillars < 15 {
		t.Errorf("only %d replies and %d pillars", replies, pillars)
	}
}

// knownOnly returns the algorithms in the reply to a request: 3006 knows only the default.
func knownOnly(e wiretest.Exchange, req *payload.Request) (enc, sig string) {
	if e.Release == "3006" {
		return "", ""
	}
	if crypt.KnownEncryption(req.EncAlgo) {
		enc = req.EncAlgo
	}
	if crypt.KnownSignature(req.SigAlgo) {
		sig = req.SigAlgo
	}
	return enc, sig
}

// TestMasterMakesRecordedPillars answers every recorded _pillar request with the recorded pillar; our minion must read
// the same pillar from it.
func TestMasterMakesRecordedPillars(t *testing.T) {
	m, byName := newMaster(t, nil), files(t)
	if err := m.keys.Put("m1", StateAccepted, keysOf(t).pub("minion")); err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, e := range requests(t) {
		if e.Reply == nil || e.Reply.PillarKey == "" {
			continue
		}
		made++
		t.Run(e.File+"/"+e.Release+"/"+e.Name, func(t *testing.T) {
			rig, now := rigFor(t, m, byName, e)
			req := decodeRequest(t, e.Request.Frame)
			o, refuse := rig.OpenRequest(req, now)
			if o == nil {
				t.Fatalf("refused: %q", refuse)
			}
			if e.Reply.PillarData == nil {
				checkOldPillar(t, rig, o, e.Reply.PillarPlain)
				return
			}
			pillar := e.Reply.PillarData.Map("pillar")
			reply, err := rig.PillarReply(o, pillar)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := unmarshal(t, reply).(*payload.Map).Keys(),
				unmarshal(t, e.Reply.Frame).(*payload.Map).Keys(); !payload.Equal(got, want) {
				t.Errorf("fields: got %v, want %v", got, want)
			}
			minion, _ := newMinion(t, func(o *MinionOptions) { o.EncAlgo, o.SigAlgo = req.EncAlgo, req.SigAlgo })
			signedInto(t, minion, e.Request.Key, req.Version)
			if got, err := minion.OpenPillar(reply, e.Request.Load.Str("nonce")); err != nil || !got.Equal(pillar) {
				t.Errorf("pillar: got %v, %v", got, err)
			}
		})
	}
	if made < 15 {
		t.Errorf("only %d pillars", made)
	}
}

// checkOldPillar checks the unsigned form of versions 0 and 1.
func checkOldPillar(t *testing.T, m masterRig, o *Opened, pillar any) {
	t.Helper()
	reply, err := m.PillarReply(o, pillar)
	if err != nil {
		t.Fatal(err)
	}
	outer := unmarshal(t, reply).(*payload.Map)
	key, err := keysOf(t).private("minion").Decrypt(crypt.OAEPSHA1, outer.Bytes("key"))
	if err != nil {
		t.Fatal(err)
	}
	box, err := crypt.NewBox(string(key))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := box.Open(outer.Bytes("pillar"), "")
	if err != nil || !payload.Equal(unmarshal(t, packed), pillar) {
		t.Errorf("pillar %x, %v, want %v", packed, err, pillar)
	}
}
