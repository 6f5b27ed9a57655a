//go:build !cgo

package crypt

import "crypto/rsa"

func newSigner(key *rsa.PrivateKey) (signer, error) { return goSigner{key}, nil }
