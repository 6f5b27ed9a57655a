package crypt

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
)

// signer does the private half of RSA for one key. Implementations are safe for concurrent use.
type signer interface {
	// sign returns the PKCS#1 v1.5 signature of a digest.
	sign(h crypto.Hash, digest []byte) ([]byte, error)
	// decrypt removes OAEP with h as hash and as MGF1 hash; any fault is ErrDecrypt.
	decrypt(h crypto.Hash, ct []byte) ([]byte, error)
	// raw returns block^d mod n in as many bytes as the key has; block has that length and is less than n.
	raw(block []byte) ([]byte, error)
}

// PrivateKey signs and decrypts. It never changes.
type PrivateKey struct {
	rsa *rsa.PrivateKey
	pub *PublicKey
	ops signer
}

// GenerateKey makes a key of that many bits with exponent 65537. Salt's keysize is 2048 by default and never less.
func GenerateKey(bits int) (*PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, fmt.Errorf("generate a key of %d bits: %w", bits, err)
	}
	return newPrivateKey(key)
}

func newPrivateKey(key *rsa.PrivateKey) (*PrivateKey, error) {
	pub, err := newPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	ops, err := newSigner(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadKey, err)
	}
	return &PrivateKey{rsa: key, pub: pub, ops: ops}, nil
}

// Public returns the public half.
func (k *PrivateKey) Public() *PublicKey { return k.pub }

// Sign returns the PKCS#1 v1.5 signature of msg. Errors: ErrUnknownAlgorithm, or a fault of the key.
func (k *PrivateKey) Sign(algo string, msg []byte) ([]byte, error) {
	h, err := signatureHash(algo)
	if err != nil {
		return nil, err
	}
	sig, err := k.ops.sign(h, digest(h, msg))
	if err != nil {
		return nil, fmt.Errorf("sign with %s: %w", algo, err)
	}
	return sig, nil
}

// Decrypt opens a result of Encrypt. Errors: ErrUnknownAlgorithm, ErrDecrypt.
func (k *PrivateKey) Decrypt(algo string, ct []byte) ([]byte, error) {
	h, err := encryptionHash(algo)
	if err != nil {
		return nil, err
	}
	if len(ct) > k.pub.size() {
		return nil, ErrDecrypt
	}
	return k.ops.decrypt(h, ct)
}

// TokenOf returns the token (tok) that a minion sends with its requests: the X9.31 signature of "salt". It is constant
// for a key. Source: salt/crypt.py, AsyncAuth.gen_token.
func TokenOf(k *PrivateKey) ([]byte, error) { return k.SignX931([]byte("salt")) }
