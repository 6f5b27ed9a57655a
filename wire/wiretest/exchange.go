package wiretest

import (
	"strings"

	"brine/wire/payload"
)

// Exchange is one request to a master and its answer.
type Exchange struct {
	File     string
	Release  string // "3006" and "3007" for the version 2 files
	Name     string // label if hand-made, else step
	Label    string
	Step     string
	Identity []byte // of the peer's ROUTER envelope, nil if not recorded
	Request  Request
	Reply    *Reply       // nil: the master never answered
	Doc      *payload.Map // the whole case
	Keys     map[string]KeyPair
}

// Request is the payload frame of a request.
type Request struct {
	Frame   []byte
	Decoded any          // the decoded frame; version 3 files leave ciphertexts out
	Version any          // nil if absent
	KeyName string       // "session", "shared", or "" if in clear or made with a wrong key
	Key     string       // the key string
	Load    *payload.Map // plaintext of a sealed load; nil if there is none or it is not a map
	Plain   any          // the same, of any type
	Doc     *payload.Map
}

// Reply is the payload frame of a reply. Fields that a reply does not have are zero.
type Reply struct {
	Frame     []byte
	Decoded   any
	KeyName   string
	Key       string
	Encrypted bool   // the frame is a raw ciphertext; Decrypted is its content, possibly nil
	Nonce     string // before the plaintext
	Decrypted any

	SignedLoad   *payload.Map // of a sign-in reply
	SigAlgo      string
	AESPlain     string // shared key inside a sign-in reply
	SessionPlain string
	TokenPlain   string

	PillarKey    string       // one-time key string of a private pillar reply
	PillarSigned *payload.Map // {data, sig}; in version 3 files only the algorithm
	PillarData   *payload.Map // {key, pillar, nonce}; version 3 files leave key out
	PillarPlain  any          // of protocol versions 0 and 1

	Doc *payload.Map
}

// Exchanges returns the exchanges of a file in order.
func (f *File) Exchanges() []Exchange {
	f.t.Helper()
	keys := f.Keys()
	var out []Exchange
	for _, m := range f.List("exchanges") {
		e := Exchange{
			File: f.Name, Release: f.release(m), Label: m.Str("label"), Step: m.Str("step"), Doc: m, Keys: keys,
			Name: m.Str("label"),
		}
		if e.Name == "" {
			e.Name = e.Step
		}
		if env := m.Map("envelope"); env != nil {
			e.Identity = Hex(f.t, env, "identity_hex")
		}
		e.Request = f.request(m.Map("request"), e.Release)
		if r := m.Map("reply"); r != nil {
			e.Reply = f.reply(r, e.Release)
		}
		out = append(out, e)
	}
	return out
}

// release returns the release of a case; a file of one release has it in its name.
func (f *File) release(m *payload.Map) string {
	if r := m.Str("release"); r != "" {
		return r
	}
	return f.Name[strings.LastIndex(f.Name, "_")+1:]
}

func (f *File) request(m *payload.Map, release string) Request {
	f.t.Helper()
	r := Request{
		Frame: frame(f.t, m, "frame"), Decoded: m.Value("decoded"), Doc: m,
		Key: f.keyOf(m, release), Plain: m.Value("decrypted_load"), Load: m.Map("decrypted_load"),
		KeyName: keyName(m),
	}
	if d, ok := r.Decoded.(*payload.Map); ok {
		r.Version = d.Value("version")
	}
	return r
}

func keyName(m *payload.Map) string {
	if m.Has("aes_key_index") {
		return "shared"
	}
	return m.Str("key")
}

func (f *File) reply(m *payload.Map, release string) *Reply {
	f.t.Helper()
	return &Reply{
		Frame: frame(f.t, m, "frame"), Decoded: m.Value("decoded"), Doc: m,
		Key: f.keyOf(m, release), KeyName: keyName(m),
		Encrypted: m.Has("decrypted"), Decrypted: m.Value("decrypted"), Nonce: m.Str("nonce_prefix"),
		SignedLoad: m.Map("signed_load"), SigAlgo: m.Str("sig_algo"),
		AESPlain: m.Str("aes_plain"), SessionPlain: m.Str("session_plain"), TokenPlain: m.Str("token_plain"),
		PillarKey: m.Str("pillar_key"), PillarSigned: m.Map("pillar_signed"), PillarData: m.Map("pillar_data"),
		PillarPlain: m.Value("pillar_plain"),
	}
}

// Publication is one message of a master's publish port.
type Publication struct {
	File    string
	Release string
	Step    string
	Frames  [][]byte     // the payload, or topic and payload
	Key     string       // the shared key string; "" if none is named
	Load    *payload.Map // the plaintext; nil if not recorded
	SigAlgo string
	Doc     *payload.Map
	Keys    map[string]KeyPair
}

// Payload is the last frame.
func (p *Publication) Payload() []byte { return p.Frames[len(p.Frames)-1] }

// Publications returns the messages of a publish file in order.
func (f *File) Publications() []Publication {
	f.t.Helper()
	keys := f.Keys()
	var out []Publication
	for _, m := range append(f.List("messages"), f.List("publish")...) {
		p := Publication{
			File: f.Name, Release: f.release(m), Step: m.Str("step"), Doc: m, Keys: keys,
			Load: m.Map("decrypted_load"), SigAlgo: m.Str("sig_algo"), Key: f.keyOf(m, f.release(m)),
		}
		for _, s := range m.List("frames_b64") {
			p.Frames = append(p.Frames, unbase64(f.t, s.(string)))
		}
		for _, s := range m.List("frames_hex") {
			p.Frames = append(p.Frames, Hex(f.t, payload.M("frame", s), "frame"))
		}
		if len(p.Frames) > 0 { // the variant file also contains subscriptions
			out = append(out, p)
		}
	}
	return out
}
