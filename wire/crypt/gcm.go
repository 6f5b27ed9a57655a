package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"slices"
)

// Parts of a GCM box, in bytes.
const (
	gcmMark       = "brine\x00\x01\x00" // the first bytes of a box
	gcmSaltSize   = 32
	gcmProofSize  = 16
	gcmKeySize    = 32 // AES-256
	gcmNonceSize  = 12
	gcmTagSize    = 16
	gcmDerived    = "brine: box of AES-256-GCM" // the purpose in the key derivation (HKDF info)
	gcmOkmSize    = gcmKeySize + gcmNonceSize + gcmProofSize
	gcmProofBegin = len(gcmMark) + gcmSaltSize
)

// GCMLead is how many bytes of a GCM box precede the payload: mark, salt, proof.
const GCMLead = gcmProofBegin + gcmProofSize

// gcmKeys are the keys of one GCM box.
type gcmKeys struct{ key, nonce, proof []byte }

// gcmKeys derives the keys of the box with this salt (RFC 5869, SHA-256). No two boxes have the same keys, so a box
// needs no counter.
func (b *Box) gcmKeys(salt []byte) (gcmKeys, error) {
	okm, err := hkdf.Key(sha256.New, b.key, salt, gcmDerived, gcmOkmSize)
	if err != nil {
		return gcmKeys{}, err
	}
	return gcmKeys{okm[:gcmKeySize:gcmKeySize], okm[gcmKeySize : gcmKeySize+gcmNonceSize],
		okm[gcmKeySize+gcmNonceSize:]}, nil
}

// SealGCM makes a GCM box of buf[at:], which holds the payload after GCMLead bytes of free space. It returns buf,
// extended by the tag; if the capacity of buf is too small, the result has new memory.
//
//	box  mark (8) | salt (32) | proof (16) | AES-256-GCM ciphertext | tag (16)
//	text msgpack; the nonce of the request is authenticated with it
//
// Key, nonce and proof are derived from the key string and the salt. The proof shows which key a box belongs to before
// anything is decrypted. Unlike Salt: its readers do not know such boxes. A peer that can open them says so in its
// request (wire/auth).
func (b *Box) SealGCM(buf []byte, at int, nonce string) ([]byte, error) {
	end := len(buf)
	buf = slices.Grow(buf, gcmTagSize)[:end+gcmTagSize]
	box := buf[at:]
	salt := box[copy(box, gcmMark):gcmProofBegin]
	rand.Read(salt) // never fails
	k, err := b.gcmKeys(salt)
	if err != nil {
		return buf[:end], err
	}
	copy(box[gcmProofBegin:], k.proof)
	text, tag := box[GCMLead:len(box)-gcmTagSize], box[len(box)-gcmTagSize:]
	if done, ok := largeGCM(k, nonce, text, tag, true); done {
		if !ok {
			return buf[:at], errSeal
		}
		return buf, nil
	}
	aead, err := k.aead()
	if err != nil {
		return buf[:end], err
	}
	aead.Seal(text[:0], k.nonce, text, []byte(nonce))
	return buf, nil
}

var errSeal = errors.New("crypt: libcrypto cannot seal")

// isGCM tells whether a box begins like a GCM box. A box of Salt begins with 16 random bytes.
func isGCM(box []byte) bool { return len(box) >= len(gcmMark) && string(box[:len(gcmMark)]) == gcmMark }

// openGCM opens a GCM box in place. ErrBadMAC means that it belongs to another key, was changed, or answers another
// request. A box of another key is left unchanged.
func (b *Box) openGCM(box []byte, nonce string) ([]byte, error) {
	if len(box) < GCMLead+gcmTagSize || nonce == "" {
		return nil, ErrBadMAC
	}
	k, err := b.gcmKeys(box[len(gcmMark):gcmProofBegin])
	if err != nil || subtle.ConstantTimeCompare(k.proof, box[gcmProofBegin:GCMLead]) != 1 {
		return nil, ErrBadMAC
	}
	text, tag := box[GCMLead:len(box)-gcmTagSize], box[len(box)-gcmTagSize:]
	if done, ok := largeGCM(k, nonce, text, tag, false); done {
		if !ok {
			clear(text) // the text is not authentic
			return nil, ErrBadMAC
		}
		return text, nil
	}
	aead, err := k.aead()
	if err != nil {
		return nil, ErrBadMAC
	}
	if _, err := aead.Open(text[:0], k.nonce, box[GCMLead:], []byte(nonce)); err != nil {
		return nil, ErrBadMAC
	}
	return text, nil
}

func (k gcmKeys) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
