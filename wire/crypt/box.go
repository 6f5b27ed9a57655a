package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"slices"
	"sync"

	"brine/wire/payload"
)

const (
	aesKeySize  = 24          // AES-192 (salt/crypt.py, Crypticle.AES_BLOCK_SIZE and key_size)
	hmacKeySize = 32          // HMAC-SHA256
	macSize     = sha256.Size // at the end of a box
	nonceSize   = 32          // hexadecimal digits of a uuid4
	prefix      = "pickle::"  // Salt's mark in front of every payload, a relic of its first encoding
	keySize     = aesKeySize + hmacKeySize
)

// NewKeyString returns a new random key in Salt's text form: base64 of 24 bytes for AES and 32 for HMAC,
// 76 characters. Source: salt/crypt.py, Crypticle.generate_key_string.
func NewKeyString() string {
	var key [keySize]byte
	rand.Read(key[:]) // never fails
	return base64.StdEncoding.EncodeToString(key[:])
}

// Box seals and opens messages under one key string. It answers to salt/crypt.py, class Crypticle, without its serial
// counter: the reader of publications checks that (see wire/auth).
//
//	key  base64 of: AES-192 key (24) | HMAC key (32)
//	box  IV (16) | AES-CBC ciphertext | HMAC-SHA256 over IV and ciphertext (32)
//	text "pickle::" | nonce (32, replies only) | msgpack | PKCS#7 padding
type Box struct {
	block cipher.Block
	key   []byte    // the key of block, followed by the key of macs
	macs  sync.Pool // of hash.Hash with the key set
}

// NewBox reads a key string. The error wraps ErrBadKey and does not contain the key.
func NewBox(keyString string) (*Box, error) {
	key, err := base64.StdEncoding.DecodeString(keyString)
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("%w: key string of %d characters", ErrBadKey, len(keyString))
	}
	block, err := aes.NewCipher(key[:aesKeySize])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadKey, err)
	}
	hmacKey := key[aesKeySize:]
	return &Box{
		block: block,
		key:   key,
		macs:  sync.Pool{New: func() any { return hmac.New(sha256.New, hmacKey) }},
	}, nil
}

// Seal returns packed in a new box. A non-empty nonce is put before packed.
func (b *Box) Seal(packed []byte, nonce string) []byte {
	box := make([]byte, SealedSize(len(packed), len(nonce)))
	rand.Read(box[:aes.BlockSize]) // never fails
	b.seal(box, packed, nonce)
	return box
}

// Lead is how many bytes of a box precede the payload: IV, Salt's mark, and a nonce of that length.
func Lead(nonce int) int { return aes.BlockSize + len(prefix) + nonce }

// SealInPlace makes a box of buf[at:], which holds the payload after Lead bytes of free space. It returns buf, extended
// by padding and MAC; if the capacity of buf is too small, the result has new memory. With pairs, large boxes of
// several goroutines may be sealed two at a time; nil: each alone.
func (b *Box) SealInPlace(buf []byte, at int, nonce string, pairs *Pairs) []byte {
	end := len(buf) - at
	size := SealedSize(end-Lead(len(nonce)), len(nonce))
	buf = slices.Grow(buf, at+size-len(buf))[:at+size]
	rand.Read(buf[at : at+aes.BlockSize]) // never fails
	b.finish(buf[at:], nonce, end, pairs)
	return buf
}

// SealedSize is the length of a box around n bytes of payload and a nonce.
func SealedSize(n, nonce int) int {
	text := len(prefix) + nonce + n
	return aes.BlockSize + text + aes.BlockSize - text%aes.BlockSize + macSize
}

// seal fills box, whose first block is the IV and whose size is SealedSize.
func (b *Box) seal(box, packed []byte, nonce string) {
	lead := Lead(len(nonce))
	copy(box[lead:], packed)
	b.finish(box, nonce, lead+len(packed), nil)
}

// finish completes a box whose IV is set and whose payload ends at end: mark, nonce, padding, cipher, MAC.
func (b *Box) finish(box []byte, nonce string, end int, pairs *Pairs) {
	iv, text := box[:aes.BlockSize], box[aes.BlockSize:len(box)-macSize]
	n := copy(text, prefix)
	copy(text[n:], nonce)
	n = end - aes.BlockSize
	for pad := byte(len(text) - n); n < len(text); n++ {
		text[n] = pad
	}
	if b.sealLarge(box, pairs) {
		return
	}
	if !largeCBC(b.key[:aesKeySize], iv, text, true) {
		cipher.NewCBCEncrypter(b.block, iv).CryptBlocks(text, text)
	}
	b.mac(box[:len(box)-macSize], box[len(box)-macSize:len(box)-macSize])
}

// mac appends the MAC of data to dst.
func (b *Box) mac(data, dst []byte) []byte {
	h := b.macs.Get().(hash.Hash)
	h.Reset()
	h.Write(data)
	dst = h.Sum(dst)
	b.macs.Put(h)
	return dst
}

// Open checks and decrypts one box and returns the msgpack bytes in it, in a new slice. It checks the MAC in constant
// time before it decrypts anything: ErrBadMAC. An authentic box without Salt's prefix is ErrNotOurs (Salt reads an
// empty map). If nonce is not empty, the text must begin with it: ErrBadNonce. Like Salt, it checks only the last byte
// of the padding. Source: salt/crypt.py, Crypticle.decrypt and loads.
func (b *Box) Open(box []byte, nonce string) ([]byte, error) { return b.open(box, nonce, nil, false) }

// OpenInPlace is Open for a box that is no longer needed: the result shares its memory. A box with a wrong MAC is left
// unchanged. The work of beside may run together with the MAC. OpenInPlace also opens a GCM box (SealGCM).
func (b *Box) OpenInPlace(box []byte, nonce string, beside payload.Beside) ([]byte, error) {
	if isGCM(box) {
		text, err := b.openGCM(box, nonce)
		if err == nil && beside != nil {
			hashBeside(beside)
		}
		return text, err
	}
	return b.open(box, nonce, beside, true)
}

func (b *Box) open(box []byte, nonce string, beside payload.Beside, inPlace bool) ([]byte, error) {
	if len(box) < macSize {
		return nil, ErrBadMAC
	}
	sealed := box[:len(box)-macSize]
	var sum [macSize]byte
	if !hmac.Equal(b.macBeside(sealed, sum[:0], beside), box[len(sealed):]) {
		return nil, ErrBadMAC
	}
	if len(sealed) < 2*aes.BlockSize || len(sealed)%aes.BlockSize != 0 {
		return nil, ErrNotOurs
	}
	text := sealed[aes.BlockSize:]
	if !inPlace {
		text = append([]byte(nil), text...)
	}
	if iv := sealed[:aes.BlockSize]; !largeCBC(b.key[:aesKeySize], iv, text, false) {
		cipher.NewCBCDecrypter(b.block, iv).CryptBlocks(text, text)
	}
	text = text[:max(0, len(text)-int(text[len(text)-1]))]
	if len(text) < len(prefix) || string(text[:len(prefix)]) != prefix {
		return nil, ErrNotOurs
	}
	text = text[len(prefix):]
	if nonce == "" {
		return text, nil
	}
	if len(nonce) != nonceSize || len(text) < nonceSize || string(text[:nonceSize]) != nonce {
		return nil, ErrBadNonce
	}
	return text[nonceSize:], nil
}
