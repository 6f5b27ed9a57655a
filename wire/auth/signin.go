package auth

import (
	"fmt"
	"time"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// signInRequest is the load of an _auth request.
type signInRequest struct {
	id, pub  string
	nonce    any // from the request, echoed; version 2 and above
	token    []byte
	grains   *payload.Map
	encAlgo  string
	sigAlgo  string
	version  int
	from     string
	complete bool // the request has all fields that Salt needs
}

func readSignIn(load *payload.Map, id string, version int) signInRequest {
	pub, hasPub := load.Value("pub").(string)
	in := signInRequest{
		id: id, pub: CleanKey(pub),
		nonce:   load.Value("nonce"),
		token:   load.Bytes("token"),
		grains:  load.Map("autosign_grains"),
		encAlgo: algorithm(load, "enc_algo", crypt.OAEPSHA1),
		sigAlgo: algorithm(load, "sig_algo", crypt.PKCS1v15SHA1),
		version: version,
	}
	in.complete = load.Has("id") && (hasPub || !ValidID(id)) && (version < 2 || load.Has("nonce"))
	return in
}

// algorithm reads a name. A value that is not a text counts as an unknown name.
func algorithm(load *payload.Map, key, def string) string {
	if !load.Has(key) {
		return def
	}
	return load.Str(key)
}

// Handle answers one sign-in (see IsSignIn). The reply is a packed frame for any request; the outcome says what
// happened to the key. Source: salt/master.py, AuthFuncs._auth_impl_sync.
func (m *Master) Handle(req *payload.Request, now time.Time) (reply []byte, outcome Outcome) {
	r := m.screen(req)
	var load *payload.Map
	var id string
	if r == nil {
		load, id, r = screenLoad(req.Load)
	}
	if r == nil {
		r = screenSignIn(load)
	}
	if r != nil {
		m.warn("sign-in refused", req.From, "minion", payload.Show(id), "why", r.why.Text)
		return r.packed(), Outcome{ID: nameable(id), Reason: r.why.Text, Cause: r.why.Cause}
	}
	in := readSignIn(load, id, req.Version)
	in.from = req.From
	if !in.complete { // Unlike Salt: 3006 and 3007 never answer this
		return packText(payload.TextHandlerFailed), Outcome{ID: nameable(id), Reason: "incomplete request"}
	}
	if !ValidID(id) {
		return m.signed(in, ret(false)), Outcome{Reason: "invalid id"}
	}
	return m.signIn(in, now)
}

// ret is the inner reply of a sign-in that is not accepted.
func ret(v any) *payload.Map { return payload.M("ret", v) }

func (m *Master) signIn(in signInRequest, now time.Time) ([]byte, Outcome) {
	out := Outcome{ID: in.id, Pub: in.pub, Grains: in.grains}
	if m.full(in.id) {
		out.Act, out.Reason = ActFull, "max_minions is reached"
		return m.signed(in, ret("full")), out
	}
	if why := m.weak(in.pub); why != nil {
		out.Act, out.Weak, out.Reason, out.Cause = ActReject, true, why.Error(), CauseWeakKey
		return m.signed(in, ret(false)), out
	}
	adm := m.admit(in, now)
	out.Result, out.Act, out.Reason, out.Cause, out.Session = adm.accept || adm.ret, adm.act, adm.why, adm.cause,
		adm.newSession
	if adm.err == nil && !adm.accept {
		if adm.badAlgo {
			return badAlgorithm("enc"), out
		}
		return m.signed(in, ret(adm.ret)), out
	}
	var reply []byte
	if adm.err == nil {
		reply, adm.err = m.acceptance(in, adm)
	}
	if adm.err != nil { // our fault, not the minion's: it must not read it as a rejection and give up
		m.log.Error("sign-in", "minion", in.id, "err", adm.err)
		out.Result, out.Act, out.Reason = false, "", adm.err.Error()
		return packText(payload.TextHandlerFailed), out
	}
	return reply, out
}

// weak returns why others could break a key, regardless of earlier decisions. A text that is not a key is left to
// admit.
func (m *Master) weak(pub string) error {
	if m.opt.AllowWeakKeys {
		return nil
	}
	key, err := crypt.ParsePublicKey([]byte(pub))
	if err != nil {
		return nil
	}
	return allowed(key.Weak())
}

// isKey tells a public key from the remains of one on a damaged disk.
func isKey(text string) bool {
	_, err := crypt.ParsePublicKey([]byte(text))
	return err == nil
}

// allowed adds the name of the option that accepts weak keys.
func allowed(weak error) error {
	if weak == nil {
		return nil
	}
	return fmt.Errorf("%w; see allow_weak_keys", weak)
}

func (m *Master) full(id string) bool {
	if m.opt.MaxMinions <= 0 || m.opt.Connected == nil {
		return false
	}
	n, present := m.opt.Connected(id)
	return n > m.opt.MaxMinions && !present
}

// admission is a decision that was carried out.
type admission struct {
	decision
	key        *crypt.PublicKey // of an accepted minion
	session    string
	newSession bool
	badAlgo    bool
	err        error // why the decision could not be carried out
}

// admit decides about a key and stores the result. Two sign-ins of an id never decide at the same time: each must see
// the state that the other has stored.
func (m *Master) admit(in signInRequest, now time.Time) admission {
	one := m.decide.of(in.id)
	one.Lock()
	defer one.Unlock()
	state, stored, err := m.opt.Keys.Get(in.id)
	if err != nil {
		return admission{err: fmt.Errorf("read key: %w", err)}
	}
	f := facts{open: m.opt.OpenMode, state: state, stored: stored, sent: in.pub, spoilt: state != StateNone &&
		!isKey(stored)}
	if !f.open && (state == StateNone || state == StatePending) {
		f.reject, f.sign = m.ask(in)
	}
	adm := admission{decision: m.gate(in, state, decide(f))}
	if !adm.accept {
		return m.turnAway(in, state, adm)
	}
	// Unlike Salt: a text that is not a key is not stored as an accepted one.
	if adm.key, err = crypt.ParsePublicKey([]byte(in.pub)); err != nil {
		return admission{decision: decision{why: err.Error()}}
	}
	if err := m.store(in, adm.decision); err != nil {
		return admission{err: err}
	}
	if m.opt.Sessions.Foreign(in.id, in.pub) {
		m.exchanged(in.id)
	}
	if adm.put != StateNone { // the id may have a session of its previous owner
		if err := m.Revoke(in.id); err != nil {
			return admission{err: fmt.Errorf("remove session: %w", err)}
		}
	}
	if !crypt.KnownEncryption(in.encAlgo) {
		adm.badAlgo, adm.act, adm.why = true, "", "unknown enc_algo"
		adm.accept = false
		return adm
	}
	return m.giveSession(in, adm, now)
}

// turnAway stores the results of a refusal. A session survives only sign-ins with the key for which it was made: an id
// without an accepted key has no session.
func (m *Master) turnAway(in signInRequest, state string, adm admission) admission {
	if err := m.store(in, adm.decision); err != nil {
		return admission{err: err}
	}
	if state != StateAccepted {
		if err := m.Revoke(in.id); err != nil {
			m.log.Error("remove session", "minion", in.id, "err", err)
		}
	}
	return adm
}

func (m *Master) store(in signInRequest, d decision) error {
	if d.deny {
		if err := m.opt.Keys.Put(in.id, StateDenied, in.pub); err != nil {
			return fmt.Errorf("store denied key: %w", err)
		}
	}
	if d.put == StateNone {
		return nil
	}
	if err := m.opt.Keys.Put(in.id, d.put, d.pub); err != nil {
		return fmt.Errorf("store %s key: %w", d.put, err)
	}
	return nil
}

// giveSession finds or makes the session key of an accepted minion. It never gives one that was made for another key.
func (m *Master) giveSession(in signInRequest, adm admission, now time.Time) admission {
	if key, ok := m.opt.Sessions.Session(in.id, in.pub, now); ok {
		adm.session = key
		return adm
	}
	adm.session, adm.newSession = crypt.NewKeyString(), true
	if err := m.opt.Sessions.Create(in.id, in.pub, adm.session, now); err != nil {
		return admission{err: fmt.Errorf("store session key: %w", err)}
	}
	return adm
}
