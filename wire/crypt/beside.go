package crypt

import (
	"crypto/sha256"
	"hash"

	"brine/wire/payload"
)

// macBeside is mac, combined with other hashing if there is any: two hashes side by side take two thirds of the time
// (lanes.c).
func (b *Box) macBeside(data, dst []byte, beside payload.Beside) []byte {
	if beside == nil || len(data) < mostAlone || !haveLanes() {
		return b.mac(data, dst)
	}
	other, text, done, ok := beside()
	if !ok {
		return b.mac(data, dst)
	}
	defer done()
	inner, sum, begun, err := b.innerMAC()
	theirs, length, otherErr := stateOf(other)
	if err != nil || otherErr != nil || length%sha256.BlockSize != 0 {
		other.Write(text)
		return b.mac(data, dst)
	}
	sumTwo(&sum, data, &theirs, text)
	whole := len(text) &^ (sha256.BlockSize - 1)
	if setState(other, theirs, length+uint64(whole)) == nil {
		text = text[whole:]
	}
	other.Write(text)
	whole = len(data) &^ (sha256.BlockSize - 1)
	if setState(inner, sum, begun+uint64(whole)) != nil {
		return b.mac(data, dst)
	}
	inner.Write(data[whole:])
	return b.outerMAC(inner, dst)
}

// hashBeside does the work of beside, if there is any.
func hashBeside(beside payload.Beside) {
	if other, text, done, ok := beside(); ok {
		other.Write(text)
		done()
	}
}

// innerMAC is the inner hash of an HMAC before any text, and its state.
func (b *Box) innerMAC() (h hash.Hash, sum laneSum, begun uint64, err error) {
	h = sha256.New()
	h.Write(padded(b.key[aesKeySize:], 0x36))
	sum, begun, err = stateOf(h)
	return h, sum, begun, err
}

// outerMAC appends an HMAC to dst. h is the inner hash over the whole text.
func (b *Box) outerMAC(h hash.Hash, dst []byte) []byte {
	inner := h.Sum(make([]byte, 0, macSize))
	h.Reset()
	h.Write(padded(b.key[aesKeySize:], 0x5c))
	h.Write(inner)
	return h.Sum(dst)
}
