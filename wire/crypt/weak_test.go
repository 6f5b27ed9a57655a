package crypt

import (
	"crypto/rsa"
	"errors"
	"math/big"
	"testing"
)

func TestWeak(t *testing.T) {
	odd := func(bits int) *big.Int {
		return new(big.Int).SetBit(new(big.Int).SetBit(new(big.Int), bits-1, 1), 0, 1)
	}
	for _, tt := range []struct {
		name string
		bits int
		e    int64
		want error // of the parser, or of Weak
	}{
		{"as Salt makes them", 2048, 65537, nil},
		{"large", 16384, 65537, nil},
		{"too large", 16392, 65537, ErrBadKey},
		{"large exponent", 2048, 1<<31 - 1, nil},
		{"exponent too large", 2048, 1<<40 + 1, ErrBadKey},
		{"even exponent", 2048, 65538, ErrBadKey},
		{"exponent one", 2048, 1, ErrBadKey},
		{"exponent 3", 2048, 3, ErrWeakKey},
		{"exponent 65535", 4096, 65535, ErrWeakKey},
		{"few bits", 2047, 65537, ErrWeakKey},
	} {
		if int64(int(tt.e)) != tt.e {
			continue // such a key does not exist on a 32-bit machine
		}
		key, err := newPublicKey(&rsa.PublicKey{N: odd(tt.bits), E: int(tt.e)})
		if err == nil {
			err = key.Weak()
		}
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
}
