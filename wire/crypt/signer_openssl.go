//go:build cgo

package crypt

/*
#cgo LDFLAGS: -lcrypto
#include "openssl.h"
*/
import "C"

import (
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"runtime"
	"unsafe"
)

// opensslSigner keeps a key inside libcrypto, ready for use; libcrypto locks what threads share. The key is freed when
// the signer is no longer reachable.
type opensslSigner struct {
	key  *C.EVP_PKEY
	size int // of the modulus, in bytes
}

func newSigner(key *rsa.PrivateKey) (signer, error) {
	der := x509.MarshalPKCS1PrivateKey(key)
	p := C.brine_rsa_load(uchars(der), C.long(len(der)))
	clear(der)
	if p == nil {
		return nil, errors.New("crypt: libcrypto refuses the key")
	}
	s := &opensslSigner{key: p, size: key.Size()}
	runtime.AddCleanup(s, func(p *C.EVP_PKEY) { C.brine_rsa_free(p) }, p)
	return s, nil
}

func (s *opensslSigner) sign(h crypto.Hash, digest []byte) ([]byte, error) {
	out := make([]byte, s.size)
	n := C.size_t(len(out))
	ok := C.brine_rsa_sign(s.key, hashNumber(h), uchars(digest), C.size_t(len(digest)), uchars(out), &n)
	runtime.KeepAlive(s)
	if ok != 1 {
		return nil, errors.New("crypt: libcrypto does not sign")
	}
	return out[:n], nil
}

func (s *opensslSigner) decrypt(h crypto.Hash, ct []byte) ([]byte, error) {
	if len(ct) == 0 {
		return nil, ErrDecrypt
	}
	out := make([]byte, s.size)
	n := C.size_t(len(out))
	ok := C.brine_rsa_oaep(s.key, hashNumber(h), uchars(ct), C.size_t(len(ct)), uchars(out), &n)
	runtime.KeepAlive(s)
	if ok != 1 {
		return nil, ErrDecrypt
	}
	return out[:n], nil
}

func (s *opensslSigner) raw(block []byte) ([]byte, error) {
	if len(block) != s.size {
		return nil, errTooLong
	}
	out := make([]byte, s.size)
	n := C.size_t(len(out))
	ok := C.brine_rsa_raw(s.key, uchars(block), C.size_t(len(block)), uchars(out), &n)
	runtime.KeepAlive(s)
	if ok != 1 {
		return nil, errTooLong
	}
	return out[:n], nil
}

func uchars(b []byte) *C.uchar { return (*C.uchar)(unsafe.Pointer(unsafe.SliceData(b))) }

func hashNumber(h crypto.Hash) C.int {
	if h == crypto.SHA224 {
		return C.BRINE_SHA224
	}
	return C.BRINE_SHA1
}
