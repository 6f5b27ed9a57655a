package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// Mark is the position of a publication among those of one shared key.
type Mark struct {
	Key    string // digest of the shared key
	Serial int64  // 0: the master does not number its publications (3007 and 3008 in a cluster)
}

// KnowSerials sets a function that returns the serial of the last publication that was accepted with a shared key, by
// the key's digest; 0: none. So a new process also refuses a recorded publication, because a master only restarts its
// serials with a new key. Call it before the first sign-in.
func (m *Minion) KnowSerials(last func(key string) int64) { m.serials = last }

// count starts to count the publications of a shared key. m.mu is held.
func (m *Minion) count(c *creds) {
	sum := sha256.Sum256([]byte(c.sharedText))
	c.serial.key = hex.EncodeToString(sum[:16])
	if m.serials != nil {
		c.serial.last = m.serials(c.serial.key)
	}
}

// OpenPublication opens one publication and removes its serial. Errors: ErrReauth if it is sealed with a key that we do
// not have; ErrIgnore if it is repeated, empty, or not sealed at all; crypt.ErrBadSignature if sign_pub_messages, or a
// master that says that it signs, demands a signature. Source: salt/channel/client.py, AsyncPubChannel._decode_payload.
func (m *Minion) OpenPublication(frame []byte) (*payload.Map, error) {
	load, _, err := m.OpenMarked(frame)
	return load, err
}

// OpenMarked is OpenPublication, and also returns the position of the publication.
func (m *Minion) OpenMarked(frame []byte) (*payload.Map, Mark, error) {
	load, c, err := m.openPublication(frame)
	if err != nil {
		return nil, Mark{}, err
	}
	n, err := m.checkSerial(c, load)
	return load, Mark{c.serial.key, n}, err
}

func (m *Minion) openPublication(frame []byte) (*payload.Map, *creds, error) {
	c := m.current()
	if c == nil {
		return nil, nil, ErrNotSignedIn
	}
	p, err := payload.DecodePublication(frame)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrBadReply, err)
	}
	if p.Enc != payload.EncAES {
		return nil, nil, fmt.Errorf("%w: enc is %.20q", ErrIgnore, p.Enc)
	}
	if m.opt.SignPubMessages {
		if err := c.verifyPublication(p); err != nil {
			return nil, nil, err
		}
	}
	packed, err := c.shared.Open(p.Load, "")
	switch {
	case errors.Is(err, crypt.ErrBadMAC):
		return nil, nil, fmt.Errorf("%w: publication does not open", ErrReauth)
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrIgnore, err)
	}
	if c.signs && !m.opt.SignPubMessages {
		// only after the box has opened: a master with a new key may not sign any longer, and the minion must sign in
		// again
		if err := c.verifyPublication(p); err != nil {
			return nil, nil, err
		}
	}
	load, err := payload.UnmarshalMap(packed)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrBadReply, err)
	}
	return load, c, nil
}

// verifyPublication checks the signature over the ciphertext. A master of 3006.0 names no algorithm and means the
// default. Unlike Salt: its newer minions cannot follow such a master.
func (c *creds) verifyPublication(p *payload.Publication) error {
	if p.Sig == nil {
		return fmt.Errorf("%w: publication is not signed", crypt.ErrBadSignature)
	}
	if err := c.masterKey.Verify(orDefault(p.SigAlgo, crypt.PKCS1v15SHA1), p.Load, p.Sig); err != nil {
		return fmt.Errorf("%w: publication: %w", crypt.ErrBadSignature, err)
	}
	return nil
}

// checkSerial removes the serial, which must grow, and returns it. A publication without one (from a cluster of 3007 or
// later) passes with 0.
func (m *Minion) checkSerial(c *creds, load *payload.Map) (int64, error) {
	if !load.Has("serial") {
		return 0, nil
	}
	n, ok := load.Int("serial")
	load.Delete("serial")
	m.mu.Lock()
	defer m.mu.Unlock()
	if !ok || n <= c.serial.last {
		return 0, fmt.Errorf("%w: serial %d after %d", ErrIgnore, n, c.serial.last)
	}
	c.serial.last = n
	return n, nil
}
