package auth

import (
	"errors"
	"fmt"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// ErrUnsigned means that a return has no signature although require_minion_sign_messages demands one.
var ErrUnsigned = errors.New("auth: return is not signed")

var errKeyNotAccepted = errors.New("auth: key is not accepted")

// VerifyReturn checks the signature of a _return and removes sig from its load. If accept is false, the return must be
// dropped and answered with false; the error gives the reason. A bad signature that passes because
// drop_messages_signature_fail is off is logged, and gives no error. Source: salt/master.py, AESFuncs._return.
func (m *Master) VerifyReturn(o *Opened) (accept bool, err error) {
	if !o.Load.Has("sig") {
		if m.opt.RequireSignature {
			return false, ErrUnsigned
		}
		return true, nil
	}
	sig := o.Load.Bytes("sig")
	o.Load.Delete("sig")
	err = m.verifyLoad(o, sig)
	if err == nil {
		return true, nil
	}
	if m.opt.DropBadSignature {
		return false, fmt.Errorf("return of %q: %w", o.ID, err)
	}
	m.log.Error("return with a bad signature", "minion", o.ID, "err", err)
	return true, nil
}

func (m *Master) verifyLoad(o *Opened, sig []byte) error {
	text, ok := "", ValidID(o.ID)
	if ok {
		text, ok = m.opt.Keys.Accepted(o.ID)
	}
	if !ok {
		return errKeyNotAccepted
	}
	pub, err := crypt.ParsePublicKey([]byte(text))
	if err != nil {
		return fmt.Errorf("accepted key: %w", err)
	}
	err = verifyPacked(pub, m.returnAlgorithm(o), o.Load, sig)
	if err == nil || !o.Load.Has("_stamp") {
		return err
	}
	// Early 3007 minions add the stamp after signing.
	bare := o.Load.Clone()
	bare.Delete("_stamp")
	return verifyPacked(pub, m.returnAlgorithm(o), bare, sig)
}

// returnAlgorithm is the option, else the minion's choice, else Salt's default. Unlike Salt: a master there has no
// default and loses every signed return.
func (m *Master) returnAlgorithm(o *Opened) string {
	if m.opt.SigningAlgorithm != "" {
		return m.opt.SigningAlgorithm
	}
	if crypt.KnownSignature(o.SigAlgo) {
		return o.SigAlgo
	}
	return crypt.PKCS1v15SHA1
}

// verifyPacked checks a signature over a load packed with bin types, in its original order.
func verifyPacked(pub *crypt.PublicKey, algo string, load *payload.Map, sig []byte) error {
	packed, err := payload.MarshalBin(load)
	if err != nil {
		return fmt.Errorf("pack signed load: %w", err)
	}
	return pub.Verify(algo, packed, sig)
}
