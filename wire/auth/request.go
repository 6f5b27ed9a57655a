package auth

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// Opened is a request that has passed all checks that do not depend on its command.
type Opened struct {
	Load    *payload.Map // without nonce (sealed requests above version 1) and tok; ts stays
	Cmd     string       // the load's command, or ""
	ID      string       // the load's id, or ""
	Version int
	Clear   bool // came with enc clear, from a command line or API client
	// TokenOK means that the token of ID was checked: always with version 3. Do not trust commands for which NeedsToken
	// is true without it.
	TokenOK          bool
	EncAlgo, SigAlgo string // as in the envelope, or else Salt's defaults

	nonce    string     // of a sealed request above version 1
	hasNonce bool       // without a nonce, pillars are refused
	gcm      bool       // SealIn may make a GCM box
	box      *crypt.Box // nil for a clear request
	pub      string     // accepted key of the envelope's id, version 3
}

// Seal returns the reply frame for the packed answer of a handler: a box under the key of the request, with the
// request's nonce first. The answer to a clear request is not sealed.
func (o *Opened) Seal(packed []byte) []byte {
	if o.box == nil {
		return packed
	}
	return mustPack(o.box.Seal(packed, o.nonce))
}

// maxRawHead is the largest number of bytes that payload.AppendRawHead writes.
const maxRawHead = 5

// SealIn is Seal for an answer that pack appends to its argument. The frame is in room, or in a larger slice that
// replaces room. It returns this slice as used, for the next answer; reuse it only when nobody needs the frame any
// longer. With pairs, the box may be sealed together with another one; nil: alone. A request with fieldBox gets a GCM
// box.
func (o *Opened) SealIn(room []byte, pairs *crypt.Pairs, pack func(dst []byte) ([]byte, error)) (frame, used []byte,
	err error) {
	if o.box == nil {
		frame, err = pack(room[:0])
		return frame, frame, err
	}
	lead := maxRawHead + crypt.Lead(len(o.nonce))
	if o.gcm {
		lead = maxRawHead + crypt.GCMLead
	}
	used, err = pack(slices.Grow(room[:0], lead)[:lead])
	if err != nil {
		return nil, used, err
	}
	if o.gcm {
		if used, err = o.box.SealGCM(used, maxRawHead, o.nonce); err != nil {
			return nil, used, err
		}
	} else {
		used = o.box.SealInPlace(used, maxRawHead, o.nonce, pairs)
	}
	var head [maxRawHead]byte
	top := payload.AppendRawHead(head[:0], len(used)-maxRawHead)
	frame = used[maxRawHead-len(top):]
	copy(frame, top)
	return frame, used, nil
}

// IsSignIn tells whether a request belongs to Handle.
func IsSignIn(req *payload.Request) bool {
	load, ok := req.Load.(*payload.Map)
	return ok && req.Enc == payload.EncClear && load.Str("cmd") == payload.CmdAuth
}

// OpenRequest decrypts and checks one request. It returns either opened, or in refuse the packed text to send back.
// Sign-ins belong to Handle (see IsSignIn). An authentic request that can never be served gets a sealed refusal, which
// ends it: after a text in clear the minion would sign in and send the same request again. Source:
// salt/channel/server.py, ReqServerChannel.handle_message, whose order of checks it keeps.
func (m *Master) OpenRequest(req *payload.Request, now time.Time) (opened *Opened, refuse []byte) {
	o, r := m.open(req, now)
	if r != nil {
		id, _ := req.ID.(string)
		m.warn("request refused", req.From, "minion", payload.Show(id), "why", r.why.Text)
		if m.opt.Refused != nil && id != "" {
			m.opt.Refused(id, r.why, o != nil && !o.Clear && o.Version > 2)
		}
		if r.known {
			return nil, o.Seal(mustPack(r.toKnown(o.Cmd)))
		}
		return nil, r.packed()
	}
	return o, nil
}

// open is OpenRequest. With a refusal, the request is nil unless its box has opened.
func (m *Master) open(req *payload.Request, now time.Time) (*Opened, *refusal) {
	if r := m.screen(req); r != nil {
		return nil, r
	}
	o := &Opened{
		Version: req.Version,
		Clear:   req.Enc == payload.EncClear,
		EncAlgo: orDefault(req.EncAlgo, crypt.OAEPSHA1),
		SigAlgo: orDefault(req.SigAlgo, crypt.PKCS1v15SHA1),
	}
	value := req.Load
	if !o.Clear {
		var r *refusal
		if value, r = m.decrypt(o, req, now); r != nil {
			return nil, r
		}
	}
	var r *refusal
	if o.Load, o.ID, r = screenLoad(value); r != nil {
		return nil, r
	}
	o.Cmd = o.Load.Str("cmd")
	if o.Clear {
		return o, nil
	}
	if len(o.ID) > payload.MaxID {
		return nil, badLoad("id of " + strconv.Itoa(len(o.ID)) + " bytes")
	}
	if r := o.takeNonce(); r != nil {
		return nil, r
	}
	check := m.checkOptionalToken
	if o.Version > 2 {
		check = func(o *Opened) *refusal { return m.checkSession(o, req.ID, now) }
	}
	if r := check(o); r != nil {
		return o, r
	}
	return o, screenNames(o.Load)
}

// decrypt opens the ciphertext of a request and remembers the key of its box.
func (m *Master) decrypt(o *Opened, req *payload.Request, now time.Time) (any, *refusal) {
	sealed := payload.AsBytes(req.Load)
	if sealed == nil {
		return nil, badLoad("no ciphertext")
	}
	o.box = m.shared.Load().box
	if req.Version > 2 {
		if r := m.openSession(o, req.ID, now); r != nil {
			return nil, r
		}
	}
	packed, err := o.box.Open(sealed, "")
	if errors.Is(err, crypt.ErrNotOurs) {
		return payload.NewMap(0), nil
	}
	if err != nil {
		return nil, badLoad("sealed with another key")
	}
	value, err := payload.UnmarshalLoad(packed)
	if err != nil {
		return nil, badLoad("malformed load")
	}
	return value, nil
}

// openSession finds the keys of the id in the envelope.
func (m *Master) openSession(o *Opened, envelopeID any, now time.Time) *refusal {
	id, ok := envelopeID.(string)
	if !ok || !ValidID(id) {
		return badLoad("no valid id in the envelope")
	}
	// Unlike Salt: an id without an accepted key has no session, so that nobody can fill the disk with sessions.
	if o.pub, ok = m.opt.Keys.Accepted(id); !ok {
		m.peers.forget(id)
		return badLoad("key is not accepted")
	}
	key, ok := m.opt.Sessions.Session(id, CleanKey(o.pub), now)
	if !ok {
		if err := m.EndForeign(id); err != nil {
			m.log.Error("end session", "minion", id, "err", err)
		}
		return badLoad("no session with the accepted key, or one that is too old")
	}
	var err error
	if o.box, err = crypt.NewBox(key); err != nil {
		return badLoad("unreadable session key")
	}
	return nil
}

// takeNonce removes the nonce from the load; requests above version 1 have it there.
func (o *Opened) takeNonce() *refusal {
	if o.Version < 2 {
		return nil
	}
	v := o.Load.Value("nonce")
	o.Load.Delete("nonce")
	if v == nil {
		return nil
	}
	nonce := payload.AsBytes(v)
	if nonce == nil || len(nonce) > payload.MaxNonce {
		return badLoad("nonce is no text, or too long")
	}
	o.nonce, o.hasNonce = string(nonce), true
	if o.Version >= protocolVersion {
		o.gcm = len(nonce) > 0 && o.Load.Str(fieldBox) == boxGCM
		o.Load.Delete(fieldBox)
	}
	return nil
}

// checkSession makes the checks of version 3: age, both ids, token.
func (m *Master) checkSession(o *Opened, envelopeID any, now time.Time) *refusal {
	tok := o.Load.Bytes("tok")
	o.Load.Delete("tok")
	if ttl := m.opt.RequestServerTTL; ttl > 0 {
		ts, ok := seconds(o.Load.Value("ts"))
		if !ok {
			return badLoad("no ts")
		}
		if float64(now.UnixNano())/1e9-ts > ttl.Seconds() {
			return badAs(CauseClock, "older than request_server_ttl")
		}
	}
	if o.ID == "" || o.ID != envelopeID {
		return badLoad("ids of load and envelope differ")
	}
	if !m.checkToken(o.ID, o.pub, tok) {
		return badLoad("token does not match")
	}
	o.TokenOK = true
	return nil
}

// checkOptionalToken checks the token of a request below version 3 if it has one with an id.
func (m *Master) checkOptionalToken(o *Opened) *refusal {
	v := o.Load.Value("tok")
	o.Load.Delete("tok")
	if v == nil || !o.Load.Has("id") {
		return nil
	}
	if !ValidID(o.ID) {
		return badLoad("token with an invalid id")
	}
	pub, ok := m.opt.Keys.Accepted(o.ID)
	if !ok {
		m.peers.forget(o.ID)
		return badLoad("key is not accepted")
	}
	if !m.checkToken(o.ID, pub, payload.AsBytes(v)) {
		return badLoad("token does not match")
	}
	o.TokenOK = true
	return nil
}

// seconds reads a time stamp of a load.
func seconds(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, v == v
	}
	return 0, false
}
