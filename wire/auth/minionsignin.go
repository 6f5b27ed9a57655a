package auth

import (
	"fmt"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// protocolVersion is the version in a sign-in, unless MaxVersion is lower. A master that knows only 2 treats it as 2.
const protocolVersion = 3

// Request returns the frame of a new sign-in request. The reply to an earlier one is no longer accepted. Source:
// salt/crypt.py, AsyncAuth.minion_sign_in_payload.
func (m *Minion) Request() ([]byte, error) {
	trusted, err := m.opt.Trust.MasterKey()
	if err != nil {
		return nil, fmt.Errorf("read master key: %w", err)
	}
	s := &signIn{nonce: newNonce(), masterKey: trusted}
	load := payload.M("cmd", payload.CmdAuth, "id", m.opt.ID, "nonce", s.nonce,
		"enc_algo", m.opt.EncAlgo, "sig_algo", m.opt.SigAlgo)
	if m.opt.AutosignGrains != nil {
		load.Set("autosign_grains", m.opt.AutosignGrains)
	}
	if token, ok := m.sealToken(trusted); ok {
		s.withToken = true
		load.Set("token", token)
	}
	load.Set("pub", m.pub)
	req := payload.Request{Enc: payload.EncClear, Load: load, Version: m.opt.MaxVersion}
	frame, err := req.Encode()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = s
	return frame, nil
}

// sealToken encrypts our token to the trusted master. Without a readable key there is no token, as in Salt.
func (m *Minion) sealToken(trusted string) ([]byte, bool) {
	if trusted == "" {
		return nil, false
	}
	key, err := crypt.ParsePublicKey([]byte(trusted))
	if err != nil {
		return nil, false
	}
	token, err := key.Encrypt(m.opt.EncAlgo, m.token)
	return token, err == nil
}

// Reply judges the reply to the last Request. It stores and uses no key before every check has passed. Source:
// salt/crypt.py, AsyncAuth.handle_signin_response.
func (m *Minion) Reply(frame []byte) Step {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.pending
	m.pending = nil
	if s == nil {
		return failedStep("no sign-in is under way")
	}
	signed, step := readReply(frame)
	if signed == nil {
		return step
	}
	v, err := m.judge(s, signed)
	if err != nil {
		return failedStep(err.Error())
	}
	if v.inner.Has("ret") {
		return m.notAccepted(v.inner.Value("ret"))
	}
	if v.creds == nil {
		return failedStep("the master's reply has neither a key nor a result")
	}
	if step, ok := m.checkFinger(v); !ok {
		return step
	}
	return m.take(s, v)
}

// signedReply is the outer part of a reply.
type signedReply struct{ load, sig []byte }

func readReply(frame []byte) (*signedReply, Step) {
	v, err := payload.Unmarshal(frame)
	if err != nil {
		return nil, failedStep(string(textMalformed))
	}
	outer, ok := v.(*payload.Map)
	if !ok || !outer.Has("load") {
		if text, ok := v.(string); ok {
			return nil, failedStep(fmt.Sprintf("sign-in failed: the master says %.80q", text))
		}
		return nil, failedStep("sign-in failed: unexpected reply")
	}
	switch text := outer.Map("load").Str("ret"); text {
	case "bad enc algo":
		return nil, failedStep(textBadEncAlgo)
	case "bad sig algo":
		return nil, failedStep(textBadSigAlgo)
	}
	r := &signedReply{load: outer.Bytes("load"), sig: outer.Bytes("sig")}
	if r.load == nil || r.sig == nil {
		return nil, failedStep("sign-in failed: the reply is not signed")
	}
	return r, Step{}
}

// notAccepted maps the master's answer to the minion's next step.
func (m *Minion) notAccepted(ret any) Step {
	switch {
	case ret == "full":
		m.wait = m.opt.AcceptanceWait
		return Step{Verdict: Full, Text: textFull}
	case falsy(ret) && m.opt.RejectedRetry:
		return Step{Verdict: Retry, Text: textRejectedRetry, Wait: m.nextWait()}
	case falsy(ret):
		return Step{Verdict: Rejected, Text: textRejected, Wait: rejectedPause(), ExitCode: ExitNoPermission}
	}
	return Step{Verdict: Pending, Text: textPending, Wait: m.nextWait()}
}

// falsy is Python's "not v" for all values that a master can put under ret.
func falsy(v any) bool { return v == nil || v == false || v == "" || v == int64(0) }

// TimedOut returns the next step after auth_timeout and auth_tries without a reply.
func (m *Minion) TimedOut() Step {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = nil
	if m.opt.AuthSafemode {
		return Step{Verdict: Retry, Text: textTimeout, Wait: m.nextWait()}
	}
	m.wait = m.opt.AcceptanceWait
	return failedStep(textTimeout)
}
