package auth

import (
	"errors"
	"fmt"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// Seal packs a request. It does not change load; it seals a copy with the fields that the protocol version needs:
// nonce, ts, tok, id and sig. For version 2 it removes fields that an old master does not accept. Open and OpenPillar
// need the nonce with the reply. Error: ErrNotSignedIn. Source: salt/channel/client.py, AsyncReqChannel._package_load.
func (m *Minion) Seal(load *payload.Map) (frame []byte, nonce string, err error) {
	return m.seal(load, false)
}

// SealShared is Seal for a request with a large reply, which OpenShared opens: a brine master may seal it in a cheaper
// box.
func (m *Minion) SealShared(load *payload.Map) (frame []byte, nonce string, err error) {
	return m.seal(load, true)
}

func (m *Minion) seal(load *payload.Map, shared bool) (frame []byte, nonce string, err error) {
	c := m.current()
	if c == nil {
		return nil, "", ErrNotSignedIn
	}
	nonce = newNonce()
	full, err := m.complete(c, load, nonce)
	if err != nil {
		return nil, "", err
	}
	if shared && c.brine && c.version >= protocolVersion {
		full.Set(fieldBox, boxGCM)
	}
	packed, err := payload.MarshalLoad(full)
	if err != nil {
		return nil, "", fmt.Errorf("pack request: %w", err)
	}
	req := payload.Request{
		Enc: payload.EncAES, Load: c.session.Seal(packed, ""), Version: c.version,
		EncAlgo: m.opt.EncAlgo, SigAlgo: m.opt.SigAlgo,
	}
	if c.version > 2 {
		req.ID = m.opt.ID
	}
	frame, err = req.Encode()
	return frame, nonce, err
}

// complete returns a copy of a load with the channel's fields at its end.
func (m *Minion) complete(c *creds, load *payload.Map, nonce string) (*payload.Map, error) {
	load = load.Clone()
	if c.version > 2 {
		load.Set("nonce", nonce).Set("ts", m.opt.Now().Unix()).Set("tok", m.tok).Set("id", m.opt.ID)
		return load, m.sign(load, m.opt.SigAlgo, "nonce", "tok")
	}
	cmd := load.Str("cmd")
	if fileCommands[cmd] {
		load.Delete("id")
		return load.Set("nonce", nonce), nil
	}
	load.Set("id", m.opt.ID)
	if NeedsToken(cmd) {
		load.Set("tok", m.tok)
	}
	if err := m.sign(load, crypt.PKCS1v15SHA1); err != nil { // the only algorithm that 3006 knows
		return nil, err
	}
	return load.Set("nonce", nonce), nil
}

// sign adds sig over all fields except the given ones if minion_sign_messages is on.
func (m *Minion) sign(load *payload.Map, algo string, but ...string) error {
	if !m.opt.SignMessages {
		return nil
	}
	bare := load.Clone()
	for _, field := range but {
		bare.Delete(field)
	}
	packed, err := payload.MarshalBin(bare)
	if err != nil {
		return fmt.Errorf("pack signed load: %w", err)
	}
	sig, err := m.opt.Key.Sign(algo, packed)
	if err != nil {
		return fmt.Errorf("sign load: %w", err)
	}
	load.Set("sig", sig)
	return nil
}

// Open opens the reply to a request. Errors: ErrReauth if the master answered with text, or with a key that we do not
// have; crypt.ErrBadNonce for the reply to another request; ErrBadReply. A box without a Salt payload gives an empty
// map.
func (m *Minion) Open(reply []byte, nonce string) (any, error) {
	return m.open(reply, nonce, payload.Unmarshal, (*crypt.Box).Open)
}

// OpenShared is Open for a large reply that the caller no longer needs: it is opened in place, and long texts in its
// value share its memory (payload.UnmarshalShared). The work of beside may run at the same time.
func (m *Minion) OpenShared(reply []byte, nonce string, beside payload.Beside) (any, error) {
	return m.open(reply, nonce, payload.UnmarshalShared, func(b *crypt.Box, sealed []byte, nonce string) ([]byte,
		error) {
		return b.OpenInPlace(sealed, nonce, beside)
	})
}

type opener func(b *crypt.Box, sealed []byte, nonce string) ([]byte, error)

func (m *Minion) open(reply []byte, nonce string, unmarshal func([]byte) (any, error), opener opener) (any, error) {
	v, err := unmarshal(reply)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadReply, err)
	}
	sealed := payload.AsBytes(v)
	if sealed == nil {
		return nil, fmt.Errorf("%w: a %T in place of a ciphertext", ErrBadReply, v)
	}
	packed, err := m.openBox(sealed, nonce, opener)
	switch {
	case errors.Is(err, crypt.ErrBadMAC):
		if text, ok := v.(string); ok {
			return nil, fmt.Errorf("%w: the master says %.80q", ErrReauth, text)
		}
		return nil, fmt.Errorf("%w: the reply does not open", ErrReauth)
	case errors.Is(err, crypt.ErrNotOurs):
		return payload.NewMap(0), nil
	case err != nil:
		return nil, err
	}
	if v, err = unmarshal(packed); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadReply, err)
	}
	return v, nil
}

// openBox opens a reply with the current keys, or with those from before the last sign-in, because the reply may have
// been under way during the sign-in.
func (m *Minion) openBox(sealed []byte, nonce string, open opener) ([]byte, error) {
	m.mu.Lock()
	c, previous := m.creds, m.previous
	m.mu.Unlock()
	if c == nil {
		return nil, ErrNotSignedIn
	}
	packed, err := open(c.session, sealed, nonce)
	if previous != nil && errors.Is(err, crypt.ErrBadMAC) {
		return open(previous.session, sealed, nonce)
	}
	return packed, err
}
