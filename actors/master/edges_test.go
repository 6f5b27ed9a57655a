package master

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"brine/supervisor/stats"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// sealed makes the ciphertext of a value under a key string.
func sealed(t testing.TB, key string, v any) []byte {
	t.Helper()
	return mustBox(t, key).Seal(packed(t, v), "")
}

func mustBox(t testing.TB, key string) *crypt.Box {
	t.Helper()
	box, err := crypt.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// sessionOf is the session key of a minion.
func (r *rig) sessionOf(id string) string {
	r.t.Helper()
	return r.read(filepath.Join(r.cfg.CacheDir, "sessions", id))
}

// unsealed opens a reply under a key string; the nonce is what stands in front.
func unsealed(t testing.TB, key, nonce string, frame []byte) any {
	t.Helper()
	box, err := crypt.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := box.Open(payload.AsBytes(decoded(t, frame)), nonce)
	if err != nil {
		t.Fatalf("reply %x does not open: %v", frame, err)
	}
	return decoded(t, packed)
}

const testNonce = "0123456789abcdef0123456789abcdef"

var handlerFailed = payload.TextHandlerFailed

// badLoadReply and the other replies that come in clear.
func badMsg() *payload.Map { return payload.M("msg", payload.TextBadLoad) }

// TestEdgesInClear is section 9 of the wire specification: requests whose answers need no key.
func TestEdgesInClear(t *testing.T) {
	r := newRig(t, "request_server_ttl: 600")
	clear := func(load any) *payload.Map { return payload.M("enc", "clear", "load", load, "version", 3) }
	for _, tt := range []struct {
		name  string
		frame any // []byte as it is, else packed
		want  any
	}{
		{"empty frame", []byte{}, badMsg()},
		{"invalid msgpack", []byte{0xc1}, badMsg()},
		{"truncated msgpack", []byte{0x82, 0xa3, 'e', 'n'}, badMsg()},
		{"bytes after the value", append(packed(t, clear(payload.M("cmd", "ping"))), 0), badMsg()},
		{"number", 5, "bad load"},
		{"list", []any{1}, "bad load"},
		{"text", "abc", "bad load"},
		{"nil", nil, "bad load"},
		{"no enc", payload.M("load", payload.M("cmd", "ping"), "version", 3), "bad load"},
		{"no load", payload.M("enc", "clear", "version", 3), "bad load"},
		{"version below the minimum, clear", payload.M("enc", "clear", "load", payload.M("cmd", "ping"), "version", 2),
			"bad load"},
		{"version below the minimum, aes", payload.M("enc", "aes", "load", []byte{1}, "version", 2), "bad load"},
		{"version absent", payload.M("enc", "clear", "load", payload.M("cmd", "ping")), "bad load"},
		{"version a map", payload.M("enc", "clear", "load", payload.M("cmd", "ping"), "version", payload.M("a", 1)),
			"bad load"},
		{"version a list", payload.M("enc", "clear", "load", payload.M("cmd", "ping"), "version", []any{3}),
			"bad load"},
		{"version of digits", payload.M("enc", "clear", "load", payload.M("cmd", "ping"), "version", "3"),
			payload.M("cmd", "ping")},
		{"version above ours", payload.M("enc", "clear", "load", payload.M("cmd", "ping"), "version", 9),
			payload.M("cmd", "ping")},
		{"load a text", clear("abc"), "payload and load must be a dict"},
		{"load nil", clear(nil), "payload and load must be a dict"},
		{"load a list", clear([]any{1}), "payload and load must be a dict"},
		{"id with NUL", clear(payload.M("cmd", "ping", "id", "a\x00b")), "bad load: id contains a null byte"},
		{"id a number", clear(payload.M("cmd", "ping", "id", 5)), "bad load: id 5 is not a string"},
		{"id a list", clear(payload.M("cmd", "ping", "id", []any{"m1"})), "bad load"},
		{"ping", clear(payload.M("cmd", "ping", "x", 1, "nonce", "n")), payload.M("cmd", "ping", "x", 1, "nonce", "n")},
		{"unknown command", clear(payload.M("cmd", "nothing")), payload.NewMap(0)},
		{"private command", clear(payload.M("cmd", "__init__")), payload.NewMap(0)},
		{"command of minions", clear(payload.M("cmd", "_file_envs", "id", "m1")), payload.NewMap(0)},
		{"no command", clear(payload.M("x", 1)), payload.NewMap(0)},
		{"command a number", clear(payload.M("cmd", 5)), payload.NewMap(0)},
		{"handler fails", clear(payload.M("cmd", "publish", "key", r.rootKey())), handlerFailed},
		{"runner without fun", clear(payload.M("cmd", "runner", "key", r.rootKey(), "user", userName())),
			handlerFailed},
		{"unknown enc", payload.M("enc", "pub", "load", payload.M("cmd", "ping"), "version", 3), "bad load"},
		{"unknown enc with an encrypted command", payload.M("enc", "pub", "load", payload.M("cmd", "_file_envs", "id",
			"m1"), "version", 3), "bad load"},
		{"enc a number", payload.M("enc", 5, "load", payload.M("cmd", "ping"), "version", 3), "bad load"},
		{"enc aes with a map", payload.M("enc", "aes", "load", payload.M("cmd", "_file_envs"), "version", 3, "id",
			"m1"), "bad load"},
		{"sign-in without id", clear(payload.M("cmd", "_auth", "nonce", testNonce, "pub", r.rsa["minion"].Public)),
			handlerFailed},
		{"sign-in without pub", clear(payload.M("cmd", "_auth", "nonce", testNonce, "id", "m1")), handlerFailed},
		{"sign-in without nonce", clear(payload.M("cmd", "_auth", "id", "m1", "pub", r.rsa["minion"].Public)),
			handlerFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			frame, raw := tt.frame.([]byte)
			if !raw {
				frame = packed(t, tt.frame)
			}
			equal(t, "reply", decoded(t, r.send(frame)), tt.want)
		})
	}
	r.tree(func(c stats.Child) {
		if c.Restarts > 0 {
			t.Errorf("%s was restarted %d times", c.Path, c.Restarts)
		}
	})
}

// aesEdge is a request of version 3 that is made by hand. The zero value of a change leaves the request as a minion
// sends it.
type aesEdge struct {
	name     string
	envelope func(*payload.Map)
	load     func(*payload.Map)
	key      func(r *rig) string
	cipher   func([]byte) []byte
	want     any  // of a reply in clear
	answer   any  // of a sealed reply
	opens    bool // the reply is sealed
	noNonce  bool // without nonce in front
}

// send makes the request and checks the reply.
func (e aesEdge) send(t *testing.T, r *rig, m *testMinion, ttl bool) {
	session := r.sessionOf(m.id)
	load := payload.M("cmd", payload.CmdFileEnvs, "nonce", testNonce, "ts", time.Now().Unix(), "tok", m.Token(), "id",
		m.id)
	if e.load != nil {
		e.load(load)
	}
	key := session
	if e.key != nil {
		key = e.key(r)
	}
	cipher := sealed(t, key, load)
	if e.cipher != nil {
		cipher = e.cipher(cipher)
	}
	envelope := payload.M("enc", "aes", "load", cipher, "version", 3, "id", m.id, "enc_algo", "OAEP-SHA1", "sig_algo",
		"PKCS1v15-SHA1")
	if e.envelope != nil {
		e.envelope(envelope)
	}
	reply := r.send(packed(t, envelope))
	if !e.opens {
		equal(t, "reply", decoded(t, reply), e.want)
		return
	}
	nonce := testNonce
	if e.noNonce {
		nonce = ""
	}
	equal(t, "answer", unsealed(t, session, nonce, reply), e.answer)
}

func set(k string, v any) func(*payload.Map) { return func(m *payload.Map) { m.Set(k, v) } }
func without1(k string) func(*payload.Map)   { return func(m *payload.Map) { m.Delete(k) } }

// TestEdgesSealed is the part of section 9 about encrypted requests of version 3.
func TestEdgesSealed(t *testing.T) {
	r := newRig(t, "request_server_ttl: 600")
	m := r.minion("m1")
	r.minion("m2")
	bad := "bad load"
	for _, e := range []aesEdge{
		{name: "well", opens: true, answer: []any{"base"}},
		{name: "envelope without id", envelope: without1("id"), want: bad},
		{name: "envelope id a number", envelope: set("id", 5), want: bad},
		{name: "envelope id invalid", envelope: set("id", "../m1"), want: bad},
		{name: "envelope id with NUL", envelope: set("id", "m\x001"), want: bad},
		{name: "envelope id unknown", envelope: set("id", "nosuch"), want: bad},
		{name: "envelope id of another", envelope: set("id", "m2"), want: bad},
		{name: "load id of another", load: set("id", "m2"), want: bad},
		{name: "no load id", load: without1("id"), want: bad},
		{name: "load id a number", load: set("id", 5), want: "bad load: id 5 is not a string"},
		{name: "load id with NUL", load: set("id", "m\x001"), want: "bad load: id contains a null byte"},
		{name: "shared key", key: func(r *rig) string { return r.m.core.auth.SharedKey() }, want: bad},
		{name: "key of another", key: func(r *rig) string { return r.sessionOf("m2") }, want: bad},
		{name: "key of nobody", key: func(*rig) string { return crypt.NewKeyString() }, want: bad},
		{name: "wrong MAC", cipher: func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, want: bad},
		{name: "changed ciphertext", cipher: func(b []byte) []byte { b[20] ^= 1; return b }, want: bad},
		{name: "too short", cipher: func(b []byte) []byte { return b[:20] }, want: bad},
		{name: "no ciphertext", cipher: func([]byte) []byte { return nil }, want: bad},
		{name: "no tok", load: without1("tok"), want: bad},
		{name: "tok of another key", load: set("tok", tokenOf(t, r, "other")), want: bad},
		{name: "tok garbage", load: set("tok", []byte(fmt.Sprintf("%0256d", 7))), want: bad},
		{name: "tok short", load: set("tok", []byte{1, 2}), want: bad},
		{name: "tok a number", load: set("tok", 5), want: bad},
		{name: "ts too old", load: set("ts", time.Now().Unix()-601), want: bad},
		{name: "ts in the future", load: set("ts", time.Now().Unix()+100000), opens: true, answer: []any{"base"}},
		{name: "ts a float", load: set("ts", float64(time.Now().Unix())), opens: true, answer: []any{"base"}},
		{name: "no ts", load: without1("ts"), want: bad},
		{name: "ts a text", load: set("ts", "now"), want: bad},
		{name: "no nonce", load: without1("nonce"), opens: true, noNonce: true, answer: []any{"base"}},
		{name: "nonce a map", load: set("nonce", payload.NewMap(0)), want: bad},
		{name: "version 2 with the session key", envelope: set("version", 2), want: bad},
		{name: "unknown command", load: set("cmd", "_nothing"), opens: true, answer: payload.NewMap(0)},
		{name: "clear command", load: set("cmd", "ping"), opens: true, answer: payload.NewMap(0)},
		{name: "verify_minion", load: set("cmd", "verify_minion"), opens: true, answer: ""},
		{name: "no command", load: without1("cmd"), want: handlerFailed},
		{name: "handler fails", load: func(m *payload.Map) {
			m.Set("cmd", "pub_ret").Set("jid", "20200101000000000000")
		}, opens: true, answer: ""},
		{name: "pillar with an unknown enc_algo", load: func(m *payload.Map) {
			m.Set("cmd", "_pillar").Set("grains", payload.NewMap(0))
		},
			envelope: set("enc_algo", "ROT13"), want: handlerFailed},
	} {
		t.Run(e.name, func(t *testing.T) { e.send(t, r, m, true) })
	}
	t.Run("load is no map", func(t *testing.T) {
		equal(t, "reply", r.ask(payload.M("enc", "aes", "load", sealed(t, r.sessionOf("m1"), []any{1}), "version", 3,
			"id", "m1")),
			"payload and load must be a dict")
	})
	t.Run("load is no msgpack", func(t *testing.T) {
		box, err := crypt.NewBox(r.sessionOf("m1"))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "reply", r.ask(payload.M("enc", "aes", "load", box.Seal([]byte{0xc1}, ""), "version", 3, "id", "m1")),
			bad)
	})
}

func tokenOf(t testing.TB, r *rig, name string) []byte {
	t.Helper()
	tok, err := crypt.TokenOf(r.pair(name))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestEdgesSealedOld is the part of section 9 about requests below version 3.
func TestEdgesSealedOld(t *testing.T) {
	r := newRig(t, "minimum_auth_version: 0")
	m := r.minion("m1")
	shared := r.m.core.auth.SharedKey()
	for _, tt := range []struct {
		name    string
		version any
		load    *payload.Map
		answer  any // nil: the text bad load in clear
		nonce   string
	}{
		{"version 2", 2, payload.M("cmd", "_file_envs", "id", "m1", "nonce", testNonce), []any{"base"}, testNonce},
		{"version 1", 1, payload.M("cmd", "_file_envs", "id", "m1"), []any{"base"}, ""},
		{"version 0", 0, payload.M("cmd", "_file_envs", "id", "m1"), []any{"base"}, ""},
		{"good tok", 2, payload.M("cmd", "_mine_flush", "id", "m1", "tok", m.Token(), "nonce", testNonce), true,
			testNonce},
		{"bad tok", 2, payload.M("cmd", "_mine_flush", "id", "m1", "tok", tokenOf(t, r, "other"), "nonce", testNonce),
			nil, ""},
		{"bad tok where none is needed", 2, payload.M("cmd", "_file_envs", "id", "m1", "tok", tokenOf(t, r, "other"),
			"nonce", testNonce), nil, ""},
		{"no tok where one is needed", 2, payload.M("cmd", "_mine_flush", "id", "m1", "nonce", testNonce),
			payload.NewMap(0), testNonce},
		{"id that is not accepted", 2, payload.M("cmd", "_return", "id", "zz", "jid", "20200101000000000000", "return",
			1, "nonce", testNonce), payload.NewMap(0), testNonce},
		{"unknown command", 2, payload.M("cmd", "_nothing", "id", "m1", "nonce", testNonce), payload.NewMap(0),
			testNonce},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply := r.send(packed(t, payload.M("enc", "aes", "load", sealed(t, shared, tt.load), "version",
				tt.version)))
			if tt.answer == nil {
				equal(t, "reply", decoded(t, reply), "bad load")
				return
			}
			equal(t, "answer", unsealed(t, shared, tt.nonce, reply), tt.answer)
		})
	}
}

// TestEdgesSignIn is the part of section 9 about unknown algorithms.
func TestEdgesSignIn(t *testing.T) {
	r := newRig(t)
	r.accept("m1", "minion")
	in := func(kv ...any) *payload.Map {
		load := payload.M("cmd", "_auth", "id", "m1", "nonce", testNonce, "pub", r.rsa["minion"].Public)
		load.Update(payload.M(kv...))
		return payload.M("enc", "clear", "load", load, "version", 3)
	}
	equal(t, "unknown enc_algo", r.ask(in("enc_algo", "ROT13")), payload.M("enc", "clear", "load",
		payload.M("ret", "bad enc algo")))
	equal(t, "unknown sig_algo", r.ask(in("sig_algo", "ROT13")), payload.M("enc", "clear", "load",
		payload.M("ret", "bad sig algo")))
	equal(t, "number for enc_algo", r.ask(in("enc_algo", 5)), payload.M("enc", "clear", "load",
		payload.M("ret", "bad enc algo")))
	for _, id := range []string{"", ".", "..", "../m1", "a/b", `a\b`} {
		reply, _ := r.ask(in("id", id)).(*payload.Map)
		inner := decoded(t, reply.Bytes("load"))
		equal(t, fmt.Sprintf("id %q", id), inner, payload.M("ret", false, "nonce", testNonce))
	}
}
