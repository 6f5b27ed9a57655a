package crypt

import (
	"errors"
	"fmt"
	"math/big"
)

// Marks of an X9.31 block: header, filler, end of filler, trailer (ANSI X9.31; libcrypto's RSA_X931_PADDING).
const (
	x931HeaderShort = 0x6a // no filler follows
	x931Header      = 0x6b
	x931Filler      = 0xbb
	x931FillerEnd   = 0xba
	x931Trailer     = 0xcc
	x931Overhead    = 2 // header and trailer
)

var errTooLong = errors.New("crypt: message too long for the key")

// padX931 returns the block of k bytes that is signed for msg:
//
//	6b bb..bb ba msg cc, or 6a msg cc if there is no space for a filler
func padX931(msg []byte, k int) ([]byte, error) {
	room := k - x931Overhead - len(msg)
	if room < 0 {
		return nil, fmt.Errorf("%w: %d bytes", errTooLong, len(msg))
	}
	block := make([]byte, 0, k)
	if room == 0 {
		block = append(block, x931HeaderShort)
	} else {
		block = append(block, x931Header)
		for range room - 1 {
			block = append(block, x931Filler)
		}
		block = append(block, x931FillerEnd)
	}
	return append(append(block, msg...), x931Trailer), nil
}

// unpadX931 returns the message in a block. Like libcrypto, it refuses a long header with no filler byte or an empty
// message.
func unpadX931(block []byte) ([]byte, error) {
	if len(block) < x931Overhead+1 || block[len(block)-1] != x931Trailer {
		return nil, ErrBadSignature
	}
	msg := block[1 : len(block)-1]
	switch block[0] {
	case x931HeaderShort:
		return msg, nil
	case x931Header:
	default:
		return nil, ErrBadSignature
	}
	n := 0
	for n < len(msg) && msg[n] == x931Filler {
		n++
	}
	if n == 0 || n >= len(msg)-1 || msg[n] != x931FillerEnd {
		return nil, ErrBadSignature
	}
	return msg[n+1:], nil
}

// SignX931 signs msg itself, without a hash ("private encrypt" in Salt): the token of a minion and the signature over
// the digest of the shared key. The signature is deterministic: the lesser of s and n - s, with as many bytes as the
// key. Source: salt/utils/rsax931.py, RSAX931Signer.sign.
func (k *PrivateKey) SignX931(msg []byte) ([]byte, error) {
	block, err := padX931(msg, k.pub.size())
	if err != nil {
		return nil, err
	}
	raw, err := k.ops.raw(block)
	if err != nil {
		return nil, fmt.Errorf("sign in X9.31 form: %w", err)
	}
	s := new(big.Int).SetBytes(raw)
	if other := new(big.Int).Sub(k.pub.rsa.N, s); other.Cmp(s) < 0 {
		s = other
	}
	return s.FillBytes(make([]byte, k.pub.size())), nil
}

// RecoverX931 returns the message signed by SignX931, in a new slice, or ErrBadSignature.
// Source: salt/utils/rsax931.py, RSAX931Verifier.verify.
func (p *PublicKey) RecoverX931(sig []byte) ([]byte, error) {
	if len(sig) > p.size() {
		return nil, ErrBadSignature
	}
	s := new(big.Int).SetBytes(sig)
	if s.Cmp(p.rsa.N) >= 0 {
		return nil, ErrBadSignature
	}
	t := s.Exp(s, big.NewInt(int64(p.rsa.E)), p.rsa.N)
	if t.Bit(0) != 0 || t.Bit(1) != 0 || t.Bit(2) != 1 || t.Bit(3) != 1 { // the low nibble is not c
		t.Sub(p.rsa.N, t)
	}
	return unpadX931(t.FillBytes(make([]byte, p.size())))
}
