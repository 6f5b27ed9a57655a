package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// judgement is a reply with a valid signature and nonce.
type judgement struct {
	inner *payload.Map
	creds *creds // nil if the reply is not an acceptance
	store bool   // the master's key becomes the trusted one
	first bool   // because it is the first one
}

// judge checks a signed reply. The error is a fault.
func (m *Minion) judge(s *signIn, r *signedReply) (judgement, error) {
	inner, err := payload.UnmarshalMap(r.load)
	if err != nil {
		return judgement{}, textMalformed
	}
	v := judgement{inner: inner}
	trusted := s.masterKey
	if inner.Has("pub_key") {
		if v.creds, v.store, err = m.openKeys(s, inner); err != nil {
			return judgement{}, err
		}
		trusted, v.first = v.creds.masterText, v.store && !m.opt.VerifyMasterPubkey
	}
	if trusted != "" { // the answer of a master whose key is unknown cannot be checked
		key, err := crypt.ParsePublicKey([]byte(trusted))
		if err != nil {
			return judgement{}, fmt.Errorf("%w: %w", textMasterKey, err)
		}
		if key.Verify(m.opt.SigAlgo, r.load, r.sig) != nil {
			return judgement{}, textSignature
		}
	}
	if inner.Value("nonce") != s.nonce {
		return judgement{}, textNonce
	}
	return v, nil
}

// openKeys decides whether to trust the master of an acceptance, and takes the keys out of it. Source: salt/crypt.py,
// AsyncAuth.verify_master.
func (m *Minion) openKeys(s *signIn, inner *payload.Map) (c *creds, store bool, err error) {
	sent := CleanKey(string(inner.Bytes("pub_key")))
	trusted := CleanKey(s.masterKey)
	if inner.Has("pub_sig") != m.opt.VerifyMasterPubkey {
		if m.opt.VerifyMasterPubkey {
			return nil, false, textMinionChecks
		}
		return nil, false, textMasterSigns
	}
	known := trusted != "" && s.withToken && !m.opt.OpenMode
	needToken := known && sent == trusted
	switch {
	case known && sent != trusted && !m.opt.VerifyMasterPubkey:
		return nil, false, textKeyChanged
	case needToken && !m.opt.AlwaysVerifySignature:
	case m.opt.VerifyMasterPubkey, needToken:
		if err := m.checkVouched(inner, sent); err != nil {
			return nil, false, err
		}
		trusted = sent
	case trusted == "":
		trusted = sent // the first master is trusted
	}
	c, err = m.readKeys(inner, trusted, needToken)
	return c, trusted != CleanKey(s.masterKey), err
}

// checkVouched checks pub_sig with the signing key that the operator has installed here.
func (m *Minion) checkVouched(inner *payload.Map, sent string) error {
	text, err := m.opt.Trust.SigningKey()
	if err != nil || text == "" {
		return textNoSigningKey
	}
	key, err := crypt.ParsePublicKey([]byte(text))
	if err != nil {
		return fmt.Errorf("verification public key: %w", err)
	}
	if weak := allowed(key.Weak()); weak != nil && !m.opt.AllowWeakKeys {
		return fmt.Errorf("verification public key: %w", weak)
	}
	// Any line ends in the text do not belong to base64.
	sig, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(inner.Bytes("pub_sig"))))
	if err != nil {
		return textBadPubSig
	}
	// Masters sign the text in the form that they send: 3006 with a newline at its end.
	for _, msg := range []string{string(inner.Bytes("pub_key")), sent, sent + "\n"} {
		if key.Verify(m.opt.SigAlgo, []byte(msg), sig) == nil {
			return nil
		}
	}
	return textBadPubSig
}

// readKeys decrypts the shared and the session key and checks that they come from masterKey.
func (m *Minion) readKeys(inner *payload.Map, masterKey string, needToken bool) (*creds, error) {
	key, err := crypt.ParsePublicKey([]byte(masterKey))
	if err == nil && !m.opt.AllowWeakKeys {
		err = allowed(key.Weak())
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", textMasterKey, err)
	}
	shared, err := m.opt.Key.Decrypt(m.opt.EncAlgo, inner.Bytes("aes"))
	if err != nil {
		return nil, textMasterKey
	}
	digest := sha256.Sum256(shared)
	if got, err := key.RecoverX931(inner.Bytes("sig")); err != nil || string(got) != hex.EncodeToString(digest[:]) {
		return nil, textMasterKey
	}
	if needToken {
		token, err := m.opt.Key.Decrypt(m.opt.EncAlgo, inner.Bytes("token"))
		if err != nil || subtle.ConstantTimeCompare(token, m.token) != 1 {
			return nil, textTokenMissing
		}
	}
	port, _ := inner.Int("publish_port")
	_, brine := inner.Int(fieldBrine)
	c := &creds{
		sharedText: string(shared), mark: digest, version: 2, publishPort: int(port), brine: brine,
		signs: inner.Has(fieldSigns), serial: &serial{}, masterKey: key, masterText: masterKey,
	}
	return c, m.openSession(c, inner)
}

// openSession makes the boxes. A session key means that the master has version 3.
func (m *Minion) openSession(c *creds, inner *payload.Map) (err error) {
	if c.shared, err = crypt.NewBox(c.sharedText); err != nil {
		return textMasterKey
	}
	c.session = c.shared
	if !inner.Has("session") || m.opt.MaxVersion < protocolVersion {
		if m.hadSession {
			return textSessionGone
		}
		return nil
	}
	text, err := m.opt.Key.Decrypt(m.opt.EncAlgo, inner.Bytes("session"))
	if err != nil {
		return textMasterKey
	}
	c.sessionText, c.version = string(text), protocolVersion
	if c.session, err = crypt.NewBox(c.sessionText); err != nil {
		return textMasterKey
	}
	if mac, err := c.session.Open(inner.Bytes(fieldLink), ""); err == nil && len(mac) == linkSize {
		c.link = linkTopic(m.opt.ID, mac)
	}
	return nil
}

// checkFinger compares the master's key with master_finger.
func (m *Minion) checkFinger(v judgement) (Step, bool) {
	if m.opt.MasterFinger == "" {
		return Step{}, true
	}
	got, err := crypt.Fingerprint([]byte(v.creds.masterText), m.opt.HashType)
	if err != nil {
		return failedStep(err.Error()), false
	}
	if got == m.opt.MasterFinger {
		return Step{}, true
	}
	return Step{Verdict: Fatal, ExitCode: ExitWrongMaster, Text: fmt.Sprintf(textFingerprint, got, m.opt.MasterFinger)},
		false
}

// trust stores a key that becomes the trusted one. The first key is believed. But a second key from a sign-in that ran
// at the same time is not: masters of a list may have different keys, and the minion does not obey the later one. Keys
// that are vouched for may replace each other.
func (m *Minion) trust(v judgement) error {
	switch {
	case v.first:
		trusted, err := m.opt.Trust.TakeMasterKey(v.creds.masterText)
		if err != nil {
			return fmt.Errorf("store master key: %w", err)
		}
		if CleanKey(trusted) != v.creds.masterText {
			return textOtherMaster
		}
	case v.store:
		if err := m.opt.Trust.SetMasterKey(v.creds.masterText); err != nil {
			return fmt.Errorf("store master key: %w", err)
		}
	}
	return nil
}

// take makes an accepted reply the minion's state.
func (m *Minion) take(s *signIn, v judgement) Step {
	c := v.creds
	if err := m.trust(v); err != nil {
		return failedStep(err.Error())
	}
	old := m.creds
	newKey := old == nil || old.sharedText != c.sharedText || old.sessionText != c.sessionText
	if old != nil && old.sharedText == c.sharedText {
		c.serial = old.serial
	}
	if c.serial.key == "" {
		m.count(c)
	}
	if newKey {
		m.previous = old
	}
	m.creds = c
	m.hadSession = m.hadSession || c.version == protocolVersion
	m.wait = m.opt.AcceptanceWait
	return Step{Verdict: Accepted, PublishPort: c.publishPort, Brine: c.brine, Link: c.link, Version: c.version,
		NewKey: newKey, NewMaster: v.store}
}
