// Package crypt makes and opens the sealed boxes of Salt's wire and handles the RSA keys behind them: PEM
// files, PKCS#1 v1.5 signatures, OAEP, and the X9.31 form of the sign-in token. It holds no sockets, no
// msgpack and no sign-in logic (see wire/auth). Sizes are in bytes. Answers to salt/crypt.py and
// salt/utils/rsax931.py.
//
// Private key operations go through OpenSSL's libcrypto when the tree is built with cgo, and through
// crypto/rsa and math/big otherwise; both give the same bytes. Large boxes are sealed in lanes where the processor has
// AES and SHA-256 (amd64, lanes.c), else by libcrypto, else by Go. Between brines there are boxes of AES-256-GCM, too
// (gcm.go). All types are safe for concurrent use.
package crypt

import "errors"

// Errors a caller decides on. All of them may come wrapped.
var (
	// ErrBadMAC means a box was forged, damaged, or sealed with another key.
	ErrBadMAC = errors.New("crypt: MAC does not match")
	// ErrNotOurs means a box is authentic and holds something else than Salt puts there. Salt's readers take it
	// for an empty map.
	ErrNotOurs = errors.New("crypt: box holds no Salt payload")
	// ErrBadNonce means a box is authentic and answers another request.
	ErrBadNonce = errors.New("crypt: nonce does not match")
	// ErrBadSignature means a signature was not made with this key over this message.
	ErrBadSignature = errors.New("crypt: signature does not match")
	// ErrDecrypt means a ciphertext was not made for this key.
	ErrDecrypt = errors.New("crypt: cannot decrypt")
	// ErrUnknownAlgorithm means the peer names an algorithm that Salt does not have.
	ErrUnknownAlgorithm = errors.New("crypt: unknown algorithm")
	// ErrBadKey means a text is no RSA key in any form Salt writes, or its passphrase is wrong.
	ErrBadKey = errors.New("crypt: not a usable RSA key")
	// ErrWeakKey means a key that others can break: of few bits, or with a small public exponent.
	ErrWeakKey = errors.New("weak RSA key")
)

// Names of the algorithms as they stand in enc_algo and sig_algo. Those with SHA1 are Salt's defaults.
const (
	OAEPSHA1       = "OAEP-SHA1"
	OAEPSHA224     = "OAEP-SHA224"
	PKCS1v15SHA1   = "PKCS1v15-SHA1"
	PKCS1v15SHA224 = "PKCS1v15-SHA224"
)
