package crypt

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"hash"
)

// mostAlone is the length from which boxes are sealed in lanes, in bytes.
const mostAlone = 4096

// laneSum is the state of a SHA-256 between two blocks.
type laneSum [8]uint32

// sumMagic begins the state of a SHA-256 as the standard library stores it: magic, state, unfinished block, length. A
// test checks that the library still does.
const (
	sumMagic = "sha\x03"
	sumSize  = len(sumMagic) + 4*8 + sha256.BlockSize + 8
)

var errSumState = errors.New("crypt: this SHA-256 keeps another state")

// stateOf is the state of a hash over whole blocks.
func stateOf(h hash.Hash) (s laneSum, length uint64, err error) {
	m, ok := h.(encoding.BinaryAppender)
	if !ok {
		return s, 0, errSumState
	}
	b, err := m.AppendBinary(make([]byte, 0, sumSize))
	if err != nil || len(b) != sumSize || string(b[:len(sumMagic)]) != sumMagic {
		return s, 0, errors.Join(errSumState, err)
	}
	for i := range s {
		s[i] = binary.BigEndian.Uint32(b[len(sumMagic)+4*i:])
	}
	return s, binary.BigEndian.Uint64(b[sumSize-8:]), nil
}

// setState makes a hash continue from a state after whole blocks of that length.
func setState(h hash.Hash, s laneSum, length uint64) error {
	m, ok := h.(encoding.BinaryUnmarshaler)
	if !ok {
		return errSumState
	}
	b := append(make([]byte, 0, sumSize), sumMagic...)
	for _, w := range s {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	b = append(b, make([]byte, sha256.BlockSize)...)
	return m.UnmarshalBinary(binary.BigEndian.AppendUint64(b, length))
}

// padded is the key of an HMAC-SHA256 as a block, each byte XORed with one of the two constants of RFC 2104.
func padded(key []byte, with byte) []byte {
	var block [sha256.BlockSize]byte
	copy(block[:], key)
	for i := range block {
		block[i] ^= with
	}
	return block[:]
}

// sealLarge encrypts a box whose text is ready and adds its MAC, in lanes. If it returns false, the box is unchanged.
func (b *Box) sealLarge(box []byte, pairs *Pairs) bool {
	if len(box) < mostAlone || !haveLanes() {
		return false
	}
	end := len(box) - macSize
	h, sum, begun, err := b.innerMAC()
	if err != nil || setState(h, sum, begun) != nil {
		return false
	}
	u := &unsealed{key: b.key[:aesKeySize], box: box[:end], sum: sum}
	pairs.seal(u)
	whole := end &^ (sha256.BlockSize - 1)
	if setState(h, u.sum, begun+uint64(whole)) != nil {
		b.mac(box[:end], box[end:end])
		return true
	}
	h.Write(box[whole:end])
	b.outerMAC(h, box[end:end])
	return true
}
