package auth

import (
	"fmt"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// Errors that a private reply contains in clear (salt/channel/server.py, _encrypt_private).
const (
	textNoNonce = "Nonce not included in request"
	textNoKey   = "AES key not found"
)

// PillarReply returns the frame of the private reply to a _pillar request: the pillar under a fresh key that is
// encrypted to the minion's RSA key, and signed above version 1. false and nil count as an empty pillar. The error is
// about a pillar without a msgpack form; the peer's faults are answered in the frame. Source: salt/channel/server.py,
// ReqServerChannel._encrypt_private.
func (m *Master) PillarReply(o *Opened, pillar any) ([]byte, error) {
	if pillar == nil || pillar == false {
		pillar = payload.NewMap(0)
	}
	text, ok := "", ValidID(o.ID)
	if ok {
		text, ok = m.opt.Keys.Accepted(o.ID)
	}
	if !ok {
		return mustPack(payload.M("error", textNoKey)), nil
	}
	pub, err := crypt.ParsePublicKey([]byte(text))
	if err != nil {
		return mustPack(m.shared.Load().box.Seal(mustPack(payload.NewMap(0)), "")), nil
	}
	// Unlike Salt: an unknown algorithm always gets the answer of 3008.
	if !crypt.KnownEncryption(o.EncAlgo) || (o.Version > 1 && !crypt.KnownSignature(o.SigAlgo)) {
		return packText(payload.TextHandlerFailed), nil
	}
	if o.Version > 1 && !o.hasNonce {
		return mustPack(payload.M("error", textNoNonce)), nil
	}
	return m.sealPillar(o, pub, pillar)
}

func (m *Master) sealPillar(o *Opened, pub *crypt.PublicKey, pillar any) ([]byte, error) {
	keyString := crypt.NewKeyString()
	key, err := pub.Encrypt(o.EncAlgo, []byte(keyString))
	if err != nil {
		return nil, fmt.Errorf("encrypt pillar key: %w", err)
	}
	box, err := crypt.NewBox(keyString)
	if err != nil {
		return nil, err
	}
	inner := pillar
	if o.Version > 1 {
		if inner, err = m.signPillar(o, key, pillar); err != nil {
			return nil, err
		}
	}
	packed, err := payload.Marshal(inner)
	if err != nil {
		return nil, fmt.Errorf("pack pillar: %w", err)
	}
	return mustPack(payload.M("key", key, "pillar", box.Seal(packed, ""))), nil
}

// signPillar signs a pillar together with its key and the nonce of the request.
func (m *Master) signPillar(o *Opened, key []byte, pillar any) (*payload.Map, error) {
	data, err := payload.Marshal(payload.M("key", key, "pillar", pillar, "nonce", o.nonce))
	if err != nil {
		return nil, fmt.Errorf("pack pillar: %w", err)
	}
	sig, err := m.opt.Key.Sign(o.SigAlgo, data)
	if err != nil {
		return nil, fmt.Errorf("sign pillar: %w", err)
	}
	return payload.M("data", data, "sig", sig), nil
}
