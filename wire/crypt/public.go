package crypt

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha1"   // SHA-1 for the default algorithms
	_ "crypto/sha256" // SHA-224
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
)

// PublicKey verifies, encrypts, and recovers X9.31 messages. It never changes.
type PublicKey struct {
	rsa  *rsa.PublicKey
	text string // PEM, stripped
}

// ParsePublicKey reads a PEM public key: SubjectPublicKeyInfo ("PUBLIC KEY") or PKCS#1 ("RSA PUBLIC KEY"),
// with LF or CRLF. The error wraps ErrBadKey.
func ParsePublicKey(text []byte) (*PublicKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%w: no PEM block", ErrBadKey)
	}
	if block.Type == "RSA PUBLIC KEY" {
		key, err := x509.ParsePKCS1PublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadKey, err)
		}
		return newPublicKey(key)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadKey, err)
	}
	if key, ok := key.(*rsa.PublicKey); ok {
		return newPublicKey(key)
	}
	return nil, fmt.Errorf("%w: a %T", ErrBadKey, key)
}

// Sizes of RSA keys. Salt makes keys of 2048 bits or more, all with the exponent 65537.
const (
	strongBits     = 2048
	strongExponent = 65537
	maxBits        = 16384 // OpenSSL accepts no larger ones either
	maxExponent    = 1<<32 - 1
)

// Weak returns an error that wraps ErrWeakKey and names the reason if others could break the key.
func (p *PublicKey) Weak() error {
	switch {
	case p.Bits() < strongBits:
		return fmt.Errorf("%w: %d bits, fewer than %d", ErrWeakKey, p.Bits(), strongBits)
	case p.rsa.E < strongExponent:
		return fmt.Errorf("%w: public exponent %d, less than %d", ErrWeakKey, p.rsa.E, strongExponent)
	}
	return nil
}

func newPublicKey(key *rsa.PublicKey) (*PublicKey, error) {
	if key.N.BitLen() > maxBits || uint64(key.E) > maxExponent {
		return nil, fmt.Errorf("%w: too large", ErrBadKey)
	}
	if key.E < 3 || key.E&1 == 0 || key.N.Bit(0) == 0 {
		return nil, fmt.Errorf("%w: odd parameters", ErrBadKey)
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadKey, err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return &PublicKey{rsa: key, text: strings.TrimSpace(string(text))}, nil
}

// PEM returns the key as SubjectPublicKeyInfo text without a trailing newline, as Salt 3007 and later send and store
// it.
func (p *PublicKey) PEM() string { return p.text }

// Bits returns the size of the modulus.
func (p *PublicKey) Bits() int { return p.rsa.N.BitLen() }

// Equal tells whether both are the same key, in whatever form they were written.
func (p *PublicKey) Equal(other *PublicKey) bool { return p.rsa.Equal(other.rsa) }

func (p *PublicKey) size() int { return p.rsa.Size() }

// Verify checks a PKCS#1 v1.5 signature. Errors: ErrUnknownAlgorithm, ErrBadSignature.
func (p *PublicKey) Verify(algo string, msg, sig []byte) error {
	h, err := signatureHash(algo)
	if err != nil {
		return err
	}
	if err := rsa.VerifyPKCS1v15(p.rsa, h, digest(h, msg), sig); err != nil {
		return ErrBadSignature
	}
	return nil
}

// Encrypt returns msg encrypted to the key with OAEP. It fails with ErrUnknownAlgorithm, or if msg is too long for the
// key.
func (p *PublicKey) Encrypt(algo string, msg []byte) ([]byte, error) {
	h, err := encryptionHash(algo)
	if err != nil {
		return nil, err
	}
	ct, err := rsa.EncryptOAEP(h.New(), rand.Reader, p.rsa, msg, nil)
	if err != nil {
		return nil, fmt.Errorf("encrypt %d bytes with %s: %w", len(msg), algo, err)
	}
	return ct, nil
}

// KnownSignature tells whether sig_algo may have this name.
func KnownSignature(algo string) bool { _, err := signatureHash(algo); return err == nil }

// KnownEncryption tells whether enc_algo may have this name.
func KnownEncryption(algo string) bool { _, err := encryptionHash(algo); return err == nil }

func signatureHash(algo string) (crypto.Hash, error) {
	switch algo {
	case PKCS1v15SHA1:
		return crypto.SHA1, nil
	case PKCS1v15SHA224:
		return crypto.SHA224, nil
	}
	return 0, fmt.Errorf("%w: signature %.40q", ErrUnknownAlgorithm, algo)
}

func encryptionHash(algo string) (crypto.Hash, error) {
	switch algo {
	case OAEPSHA1:
		return crypto.SHA1, nil
	case OAEPSHA224:
		return crypto.SHA224, nil
	}
	return 0, fmt.Errorf("%w: encryption %.40q", ErrUnknownAlgorithm, algo)
}

func digest(h crypto.Hash, msg []byte) []byte {
	d := h.New()
	d.Write(msg)
	return d.Sum(nil)
}
