package auth

import (
	"encoding/base64"
	"fmt"
	"sync"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// fieldBrine is in the signed part of a brine master's acceptance: a minion that knows it may put more into its
// requests than Salt's minions do. Unlike Salt: its acceptance has no such field, and its minions ignore it.
const fieldBrine = "brine"

// fieldSigns is in the signed part if the master signs its publications: its minions then accept no others. Every
// minion has the key of all publications, and could forge some for the other minions. Unlike Salt: a minion demands
// signatures only with sign_pub_messages, which is off by default.
const fieldSigns = "brine_signs"

// fieldBox is in requests of a brine minion to a brine master whose answers may be large. It names the kind of box that
// the minion can open besides Salt's; that box costs a third (crypt.SealGCM, decision 0064). As for the nonce, sig does
// not cover it: the box of the request protects both.
const (
	fieldBox = "brine_box"
	boxGCM   = "aes-256-gcm"
)

// acceptance returns the reply that accepts a minion. The order of the fields is Salt's.
func (m *Master) acceptance(in signInRequest, adm admission) ([]byte, error) {
	shared := m.shared.Load()
	a := payload.NewMap(12).Set("enc", "pub").Set("pub_key", m.pubKey).Set("publish_port", m.opt.PublishPort)
	if !crypt.KnownSignature(in.sigAlgo) && in.version > 1 {
		return badAlgorithm("sig"), nil
	}
	if err := m.pubSigs.add(a, in.sigAlgo); err != nil {
		return nil, err
	}
	if token, ok := m.returnToken(in, adm.key); ok {
		a.Set("token", token)
	}
	aes, session, err := m.sealed.seal(in, adm, shared.text)
	if err != nil {
		return nil, err
	}
	a.Set("aes", aes).Set("session", session).Set("sig", shared.sig)
	if in.version < 2 {
		return mustPack(a), nil
	}
	a.Set(fieldBrine, 1)
	if m.opt.SignPublications {
		a.Set(fieldSigns, 1)
	}
	if in.version >= protocolVersion {
		box, err := crypt.NewBox(adm.session)
		if err != nil {
			return nil, err
		}
		a.Set(fieldLink, box.Seal(m.linkMAC(in.id, in.pub), ""))
	}
	return m.signed(in, a), nil
}

// returnToken encrypts the minion's token back to it. It skips a token that cannot be decrypted.
func (m *Master) returnToken(in signInRequest, key *crypt.PublicKey) ([]byte, bool) {
	if in.token == nil {
		return nil, false
	}
	token, err := m.opt.Key.Decrypt(in.encAlgo, in.token)
	if err != nil {
		return nil, false
	}
	sealed, err := key.Encrypt(in.encAlgo, token)
	return sealed, err == nil
}

// signed returns the envelope of a sign-in reply: above version 1 signed and with the nonce, else in clear.
func (m *Master) signed(in signInRequest, inner *payload.Map) []byte {
	if in.version < 2 {
		return mustPack(payload.M("enc", payload.EncClear, "load", inner))
	}
	load := mustPack(inner.Set("nonce", in.nonce))
	sig, err := m.opt.Key.Sign(in.sigAlgo, load)
	if err != nil {
		return badAlgorithm("sig")
	}
	return mustPack(payload.M("enc", payload.EncClear, "load", load, "sig", sig))
}

// badAlgorithm is the unsigned reply to an algorithm that Salt does not have; which is "enc" or "sig".
func badAlgorithm(which string) []byte {
	return mustPack(payload.M("enc", payload.EncClear, "load", ret("bad "+which+" algo")))
}

// pubSigs holds the signatures over the master's public key, one for each algorithm, made at first use.
type pubSigs struct {
	fixed string // master_use_pubkey_signature
	key   *crypt.PrivateKey
	text  []byte

	mu     sync.Mutex
	byAlgo map[string][]byte
}

func (p *pubSigs) init(opt MasterOptions) {
	p.fixed, p.key, p.text = CleanKey(opt.PubSig), opt.SignKey, []byte(opt.Key.Public().PEM())
	p.byAlgo = map[string][]byte{}
}

// add sets pub_sig if master_sign_pubkey is on: base64 with a newline, or the precomputed file's content.
func (p *pubSigs) add(a *payload.Map, algo string) error {
	if p.fixed != "" {
		a.Set("pub_sig", p.fixed)
		return nil
	}
	if p.key == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byAlgo[algo] == nil {
		sig, err := p.key.Sign(algo, p.text)
		if err != nil {
			return fmt.Errorf("sign public key: %w", err)
		}
		p.byAlgo[algo] = append(base64.StdEncoding.AppendEncode(nil, sig), '\n')
	}
	a.Set("pub_sig", p.byAlgo[algo])
	return nil
}
