package auth

import (
	"strings"
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
)

func signInLoad(t testing.TB, id, key string) *payload.Map {
	return payload.M("cmd", payload.CmdAuth, "id", id, "nonce", strings.Repeat("a", 32), "pub", keysOf(t).pub(key))
}

func TestOutcomes(t *testing.T) {
	pub := keysOf(t).pub("minion")
	grains := payload.M("role", "db")
	accept := func(o *MasterOptions) { o.Rules.AcceptAll = true }
	for _, tt := range []struct {
		name   string
		change func(*MasterOptions)
		state  string // initial state of m1, with the key in the next field
		key    string
		load   *payload.Map
		want   any // under ret; nil for an acceptance
		event  *payload.Map
		after  string // state of m1
	}{
		{"pending", nil, "", "", signInLoad(t, "m1", "minion").Set("autosign_grains", grains), true,
			payload.M("result", true, "act", "pend", "id", "m1", "pub", pub, "autosign_grains", grains), StatePending},
		{"accepted", accept, "", "", signInLoad(t, "m1", "minion"), nil,
			payload.M("result", true, "act", "accept", "id", "m1", "pub", pub), StateAccepted},
		{"denied", nil, StateAccepted, "other", signInLoad(t, "m1", "minion"), false,
			payload.M("result", false, "act", "denied", "id", "m1", "pub", pub), StateAccepted},
		{"rejected", nil, StateRejected, "minion", signInLoad(t, "m1", "minion"), false,
			payload.M("result", false, "act", "reject", "id", "m1", "pub", pub), StateRejected},
		{"full", func(o *MasterOptions) {
			o.MaxMinions = 2
			o.Connected = func(string) (int, bool) { return 3, false }
		}, "", "", signInLoad(t, "m1", "minion"), "full",
			payload.M("result", false, "act", "full", "id", "m1", "pub", pub), ""},
		{"full, but connected", func(o *MasterOptions) {
			o.MaxMinions = 2
			o.Connected = func(string) (int, bool) { return 3, true }
		}, StateAccepted, "minion", signInLoad(t, "m1", "minion"), nil,
			payload.M("result", true, "act", "accept", "id", "m1", "pub", pub), StateAccepted},
		{"invalid id", accept, "", "", signInLoad(t, "a/b", "minion"), false, nil, ""},
		{"no key, auto-signed", accept, "", "", signInLoad(t, "m1", "minion").Set("pub", "garbage"), false, nil, ""},
		{"no key, stored", nil, StateAccepted, "garbage", signInLoad(t, "m1", "minion").Set("pub", "garbage"), true,
			payload.M("result", true, "act", "error", "id", "m1", "pub", "garbage"), StateAccepted},
		{"the accepted key is damaged", nil, StateAccepted, "garbage", signInLoad(t, "m1", "minion"), true,
			payload.M("result", true, "act", "error", "id", "m1", "pub", pub), StateAccepted},
		{"open mode, another key", func(o *MasterOptions) {
			o.OpenMode = true
		}, StateRejected, "other", signInLoad(t, "m1", "minion"), nil,
			payload.M("result", true, "act", "accept", "id", "m1", "pub", pub), StateAccepted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := newMaster(t, tt.change)
			if tt.state != "" {
				stored := keysOf(t).pub(tt.key)
				if tt.key == "garbage" {
					stored = tt.key
				}
				if err := at.keys.Put("m1", tt.state, stored); err != nil {
					t.Fatal(err)
				}
			}
			reply, out := at.Handle(&payload.Request{Enc: payload.EncClear, Version: 3, Load: tt.load}, testTime)
			inner := unmarshal(t, unmarshal(t, reply).(*payload.Map).Bytes("load")).(*payload.Map)
			if got := inner.Value("ret"); got != tt.want || inner.Value("nonce") != tt.load.Value("nonce") {
				t.Errorf("reply %v", inner)
			}
			if ev := out.Event(true); (ev == nil) != (tt.event == nil) || (ev != nil && !ev.Equal(tt.event)) {
				t.Errorf("event %v, want %v", ev, tt.event)
			}
			if out.Event(false).Has("autosign_grains") {
				t.Error("the event has grains that were not asked for")
			}
			if at.keys.state["m1"] != tt.after {
				t.Errorf("state %q, want %q", at.keys.state["m1"], tt.after)
			}
			if (out.Act == ActDenied) != (at.keys.denied["m1"] != "") {
				t.Errorf("denied key %.30q", at.keys.denied["m1"])
			}
			if out.Session != (tt.want == nil) || at.sessions.len() != min(1, len(at.sessions.key)) {
				t.Errorf("session %v", out.Session)
			}
			if (out.Reason == "") != (tt.want == nil) {
				t.Errorf("reason %q", out.Reason)
			}
		})
	}
}

// TestOurFaultIsNoRejection: a full disk does not make minions give up.
func TestOurFaultIsNoRejection(t *testing.T) {
	for name, fail := range map[string]func(masterRig){
		"keys":     func(at masterRig) { at.keys.err = errDisk },
		"sessions": func(at masterRig) { at.sessions.err = errDisk },
	} {
		at := newMaster(t, func(o *MasterOptions) { o.Rules.AcceptAll = true })
		fail(at)
		m, _ := newMinion(t, nil)
		step, out := signInAt(t, m, at)
		if step.Verdict != Failed || out.Result || out.Event(true) != nil || !strings.Contains(out.Reason,
			errDisk.Error()) {
			t.Errorf("%s: %+v, %+v", name, step, out)
		}
	}
}

// TestSignInsFinishWhateverIsMissing removes fields and inserts odd values.
func TestSignInsFinishWhateverIsMissing(t *testing.T) {
	for _, version := range []int{0, 1, 2, 3} {
		at := newMaster(t, func(o *MasterOptions) { o.MinimumAuthVersion = 0; o.Rules.AcceptAll = true })
		for _, field := range []string{"cmd", "id", "nonce", "pub", "token", "enc_algo", "sig_algo",
			"autosign_grains"} {
			for _, value := range []any{nil, true, 5, 1.5, "", "x", []byte{0xff}, []any{1}, payload.M("a", 1)} {
				load := signInLoad(t, "m1", "minion").Set(field, value)
				if value == nil {
					load.Delete(field)
				}
				reply, _ := at.Handle(&payload.Request{Enc: payload.EncClear, Version: version, Load: load}, testTime)
				switch v := unmarshal(t, reply).(type) {
				case string:
				case *payload.Map:
					if !v.Has("enc") {
						t.Errorf("%s = %v: %v", field, value, v)
					}
				default:
					t.Errorf("%s = %v: reply %v", field, value, v)
				}
			}
		}
	}
}

func TestPubSig(t *testing.T) {
	keys := keysOf(t)
	for _, algo := range []string{crypt.PKCS1v15SHA1, crypt.PKCS1v15SHA224} {
		at := newMaster(t, func(o *MasterOptions) { o.Rules.AcceptAll = true; o.SignKey = keys.private("sign") })
		m, trust := newMinion(t, func(o *MinionOptions) { o.VerifyMasterPubkey, o.SigAlgo = true, algo })
		trust.signing = keys.pub("sign")
		if step, _ := signInAt(t, m, at); step.Verdict != Accepted || trust.master != keys.pub("master") {
			t.Errorf("%s: %+v", algo, step)
		}
		trust.signing = keys.pub("other")
		trust.master = ""
		if step, _ := signInAt(t, m, at); step.Text != string(textBadPubSig) {
			t.Errorf("%s, another signing key: %+v", algo, step)
		}
	}
	at := newMaster(t, func(o *MasterOptions) {
		o.Rules.AcceptAll = true
		o.PubSig = "c2ln\n"
		o.SignKey = keys.private("sign")
	})
	reply, _ := at.Handle(&payload.Request{Enc: payload.EncClear, Version: 3, Load: signInLoad(t, "m1", "minion")},
		testTime)
	inner := unmarshal(t, unmarshal(t, reply).(*payload.Map).Bytes("load")).(*payload.Map)
	if inner.Str("pub_sig") != "c2ln" {
		t.Errorf("precomputed signature: %v", inner.Value("pub_sig"))
	}
}
