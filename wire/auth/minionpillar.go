package auth

import (
	"bytes"
	"fmt"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// OpenPillar opens the private reply to a _pillar request. Errors: ErrReauth if the reply has no key, or another master
// has signed it; crypt.ErrBadNonce for the reply to another request; ErrBadReply. Source: salt/channel/client.py,
// AsyncReqChannel.crypted_transfer_decode_dictentry.
func (m *Minion) OpenPillar(reply []byte, nonce string) (*payload.Map, error) {
	c := m.current()
	if c == nil {
		return nil, ErrNotSignedIn
	}
	v, err := payload.Unmarshal(reply)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadReply, err)
	}
	outer, ok := v.(*payload.Map)
	if !ok || !outer.Has("key") {
		return nil, fmt.Errorf("%w: the pillar reply has no key", ErrReauth)
	}
	key := outer.Bytes("key")
	signed, err := m.openPillarBox(key, outer.Bytes("pillar"))
	if err != nil {
		return nil, err
	}
	packed := signed.Bytes("data")
	if c.masterKey.Verify(m.opt.SigAlgo, packed, signed.Bytes("sig")) != nil {
		return nil, fmt.Errorf("%w: pillar signature does not match", ErrReauth)
	}
	data, err := payload.UnmarshalMap(packed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadReply, err)
	}
	if !bytes.Equal(data.Bytes("key"), key) {
		return nil, fmt.Errorf("%w: pillar key is not the signed one", ErrBadReply)
	}
	if data.Value("nonce") != nonce {
		return nil, crypt.ErrBadNonce
	}
	pillar, ok := data.Value("pillar").(*payload.Map)
	if !ok {
		return nil, fmt.Errorf("%w: pillar is no map", ErrBadReply)
	}
	return pillar, nil
}

func (m *Minion) openPillarBox(key, sealed []byte) (*payload.Map, error) {
	text, err := m.opt.Key.Decrypt(m.opt.EncAlgo, key)
	if err != nil {
		return nil, fmt.Errorf("%w: pillar key: %w", ErrBadReply, err)
	}
	box, err := crypt.NewBox(string(text))
	if err != nil {
		return nil, fmt.Errorf("%w: pillar key: %w", ErrBadReply, err)
	}
	packed, err := box.Open(sealed, "")
	if err != nil {
		return nil, fmt.Errorf("%w: pillar: %w", ErrBadReply, err)
	}
	signed, err := payload.UnmarshalMap(packed)
	if err != nil {
		return nil, fmt.Errorf("%w: pillar: %w", ErrBadReply, err)
	}
	return signed, nil
}
