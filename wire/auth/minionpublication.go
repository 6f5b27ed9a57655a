package auth

import (
	"errors"
	"fmt"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// OpenPublication opens one publication and takes its serial out. ErrReauth: sealed with a key we do not
// have; ErrIgnore: repeated, empty, or not sealed at all; crypt.ErrBadSignature: refused by
// sign_pub_messages. Source: salt/channel/client.py, AsyncPubChannel._decode_payload.
func (m *Minion) OpenPublication(frame []byte) (*payload.Map, error) {
	c := m.current()
	if c == nil {
		return nil, ErrNotSignedIn
	}
	p, err := payload.DecodePublication(frame)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadReply, err)
	}
	if p.Enc != payload.EncAES {
		return nil, fmt.Errorf("%w: enc is %.20q", ErrIgnore, p.Enc)
	}
	if m.opt.SignPubMessages {
		if err := c.verifyPublication(p); err != nil {
			return nil, err
		}
	}
	packed, err := c.shared.Open(p.Load, "")
	switch {
	case errors.Is(err, crypt.ErrBadMAC):
		return nil, fmt.Errorf("%w: publication does not open", ErrReauth)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrIgnore, err)
	}
	load, err := payload.UnmarshalMap(packed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadReply, err)
	}
	return load, m.checkSerial(c, load)
}

// verifyPublication checks the signature over the ciphertext. A master of 3006.0 names no algorithm and
// means the default. Unlike Salt: its newer minions cannot follow such a master.
func (c *creds) verifyPublication(p *payload.Publication) error {
	if p.Sig == nil {
		return fmt.Errorf("%w: publication is not signed", crypt.ErrBadSignature)
	}
	if err := c.masterKey.Verify(orDefault(p.SigAlgo, crypt.PKCS1v15SHA1), p.Load, p.Sig); err != nil {
		return fmt.Errorf("%w: publication: %w", crypt.ErrBadSignature, err)
	}
	return nil
}

// checkSerial removes the serial, which must grow. A publication without one (3007 in cluster mode) passes.
func (m *Minion) checkSerial(c *creds, load *payload.Map) error {
	if !load.Has("serial") {
		return nil
	}
	n, ok := load.Int("serial")
	load.Delete("serial")
	m.mu.Lock()
	defer m.mu.Unlock()
	if !ok || n <= c.serial.last {
		return fmt.Errorf("%w: serial %d after %d", ErrIgnore, n, c.serial.last)
	}
	c.serial.last = n
	return nil
}
