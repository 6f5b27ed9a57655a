// Package crypt makes and opens the sealed boxes of Salt's wire and handles the RSA keys behind them: PEM files, PKCS#1
// v1.5 signatures, OAEP, and the X9.31 form of the sign-in token. It holds no sockets, no msgpack and no sign-in logic
// (see wire/auth). Sizes are in bytes. Answers to salt/crypt.py and salt/utils/rsax931.py.
//
// Private key operations use OpenSSL's libcrypto if the tree is built with cgo, and crypto/rsa and math/big otherwise;
// both give the same bytes. Large boxes are sealed in lanes if the processor has AES and SHA-256 instructions (amd64,
// lanes.c), else by libcrypto, else by Go. Brines also exchange boxes of AES-256-GCM with each other (gcm.go). All
// types are safe for concurrent use.
package crypt

import "errors"

// Errors that a caller decides on. All of them may be wrapped.
var (
	// ErrBadMAC means that a box was forged, damaged, or sealed with another key.
	ErrBadMAC = errors.New("crypt: MAC does not match")
	// ErrNotOurs means that a box is authentic but does not hold a Salt payload. Salt reads it as an empty map.
	ErrNotOurs = errors.New("crypt: box holds no Salt payload")
	// ErrBadNonce means that a box is authentic but answers another request.
	ErrBadNonce = errors.New("crypt: nonce does not match")
	// ErrBadSignature means that a signature was not made with this key over this message.
	ErrBadSignature = errors.New("crypt: signature does not match")
	// ErrDecrypt means that a ciphertext was not made for this key.
	ErrDecrypt = errors.New("crypt: cannot decrypt")
	// ErrUnknownAlgorithm means that the peer names an algorithm that Salt does not have.
	ErrUnknownAlgorithm = errors.New("crypt: unknown algorithm")
	// ErrBadKey means that a text is not an RSA key in any of Salt's forms, or that its passphrase is wrong.
	ErrBadKey = errors.New("crypt: not a usable RSA key")
	// ErrWeakKey means that others can break a key: it has few bits, or a small public exponent.
	ErrWeakKey = errors.New("weak RSA key")
)

// Names of the algorithms in enc_algo and sig_algo. Those with SHA1 are Salt's defaults.
const (
	OAEPSHA1       = "OAEP-SHA1"
	OAEPSHA224     = "OAEP-SHA224"
	PKCS1v15SHA1   = "PKCS1v15-SHA1"
	PKCS1v15SHA224 = "PKCS1v15-SHA224"
)
