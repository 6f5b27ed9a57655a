package crypt

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"math/big"
)

// goSigner does the private operations in Go. Without cgo it is the only way; with cgo, tests compare libcrypto with
// it.
type goSigner struct{ key *rsa.PrivateKey }

func (s goSigner) sign(h crypto.Hash, digest []byte) ([]byte, error) {
	return rsa.SignPKCS1v15(nil, s.key, h, digest)
}

func (s goSigner) decrypt(h crypto.Hash, ct []byte) ([]byte, error) {
	msg, err := rsa.DecryptOAEP(h.New(), nil, s.key, ct, nil)
	if err != nil {
		return nil, ErrDecrypt
	}
	return msg, nil
}

// raw is plain RSA, which crypto/rsa does not offer. It blinds the input because math/big does not run in constant
// time. It checks the result because a fault in one half of the Chinese remainder step would reveal the key.
func (s goSigner) raw(block []byte) ([]byte, error) {
	n, e := s.key.N, big.NewInt(int64(s.key.E))
	m := new(big.Int).SetBytes(block)
	if len(block) != s.key.Size() || m.Cmp(n) >= 0 {
		return nil, errTooLong
	}
	r, rInv, err := blinding(n)
	if err != nil {
		return nil, err
	}
	blind := new(big.Int).Exp(r, e, n)
	blind.Mul(blind, m).Mod(blind, n)
	out := s.private(blind)
	out.Mul(out, rInv).Mod(out, n)
	if new(big.Int).Exp(out, e, n).Cmp(m) != 0 {
		return nil, errors.New("crypt: private operation gave a wrong result")
	}
	return out.FillBytes(make([]byte, len(block))), nil
}

// private returns c^d mod n. If there are two primes, it uses both.
func (s goSigner) private(c *big.Int) *big.Int {
	pre := &s.key.Precomputed
	if len(s.key.Primes) != 2 || pre.Dp == nil || pre.Dq == nil || pre.Qinv == nil {
		return new(big.Int).Exp(c, s.key.D, s.key.N)
	}
	p, q := s.key.Primes[0], s.key.Primes[1]
	m := new(big.Int).Exp(c, pre.Dp, p)
	mq := new(big.Int).Exp(c, pre.Dq, q)
	m.Sub(m, mq).Mul(m, pre.Qinv).Mod(m, p)
	return m.Mul(m, q).Add(m, mq)
}

// blinding returns a random number below n and its inverse.
func blinding(n *big.Int) (r, inverse *big.Int, err error) {
	for {
		r, err = rand.Int(rand.Reader, n)
		if err != nil {
			return nil, nil, err
		}
		if inverse = new(big.Int).ModInverse(r, n); inverse != nil {
			return r, inverse, nil
		}
	}
}
