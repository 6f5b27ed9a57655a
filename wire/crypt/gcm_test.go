package crypt

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// sealedGCM is a GCM box around a payload, with other bytes before it.
func sealedGCM(t testing.TB, b *Box, packed []byte, nonce string) []byte {
	t.Helper()
	const at = 5
	buf, err := b.SealGCM(append(make([]byte, at+GCMLead), packed...), at, nonce)
	if err != nil || !bytes.Equal(buf[:at], make([]byte, at)) {
		t.Fatalf("seal: %v, %x", err, buf[:at])
	}
	return buf[at:]
}

// goGCM opens a GCM box with the standard library alone.
func goGCM(t testing.TB, b *Box, box []byte, nonce string) ([]byte, error) {
	t.Helper()
	k, err := b.gcmKeys(box[len(gcmMark):gcmProofBegin])
	if err != nil {
		t.Fatal(err)
	}
	aead, err := k.aead()
	if err != nil {
		t.Fatal(err)
	}
	return aead.Open(nil, k.nonce, box[GCMLead:], []byte(nonce))
}

// TestGCM: boxes of any size open to the sealed text, here and by the standard library, and two boxes of one payload
// differ.
func TestGCM(t *testing.T) {
	b, nonce := newTestBox(t), strings.Repeat("n", nonceSize)
	for _, n := range []int{0, 1, 15, 16, 100, fromLarge - 1, fromLarge, 70000, 1<<20 + 7} {
		_, packed := unsealedBox(n)
		box := sealedGCM(t, b, packed, nonce)
		if len(box) != GCMLead+n+gcmTagSize {
			t.Errorf("%d bytes: a box of %d", n, len(box))
		}
		if got, err := goGCM(t, b, box, nonce); err != nil || !bytes.Equal(got, packed) {
			t.Errorf("%d bytes, by Go: %v", n, err)
		}
		if again := sealedGCM(t, b, packed, nonce); bytes.Equal(again[:GCMLead], box[:GCMLead]) || n > 15 &&
			bytes.Equal(again[GCMLead:], box[GCMLead:]) {
			t.Errorf("%d bytes: the same box twice", n)
		}
		if got, err := b.OpenInPlace(box, nonce, nil); err != nil || !bytes.Equal(got, packed) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// fromLarge is the length from which another implementation is used.
const fromLarge = 4096

// TestGCMForged: a box that was changed anywhere, was cut, or answers another request does not open. A box of another
// key is left unchanged, so that the next key can be tried.
func TestGCMForged(t *testing.T) {
	b, other, nonce := newTestBox(t), newTestBox(t), strings.Repeat("n", nonceSize)
	for _, n := range []int{64, 5000} {
		_, packed := unsealedBox(n)
		box := sealedGCM(t, b, packed, nonce)
		refused := func(what string, bad []byte, nonce string) {
			t.Helper()
			text, err := b.OpenInPlace(bad, nonce, nil)
			if !errors.Is(err, ErrBadMAC) || text != nil {
				t.Errorf("%d bytes, %s: %d bytes, %v", n, what, len(text), err)
			}
		}
		for i := range box {
			if n > 64 && i > GCMLead+20 && i < len(box)-20 && i%97 > 0 {
				continue
			}
			bad := bytes.Clone(box)
			bad[i] ^= 0x40
			refused("a changed bit", bad, nonce)
		}
		for _, size := range []int{len(gcmMark), gcmProofBegin, GCMLead, GCMLead + gcmTagSize - 1, len(box) - 1} {
			refused("a part", bytes.Clone(box[:size]), nonce)
		}
		refused("another request", bytes.Clone(box), strings.Repeat("m", nonceSize))
		refused("no request", bytes.Clone(box), "")
		kept := bytes.Clone(box)
		if _, err := other.OpenInPlace(kept, nonce, nil); !errors.Is(err, ErrBadMAC) || !bytes.Equal(kept, box) {
			t.Errorf("%d bytes, another key: %v, or the box was changed", n, err)
		}
		if _, err := b.Open(bytes.Clone(box), nonce); !errors.Is(err, ErrBadMAC) {
			t.Errorf("%d bytes, of who knows Salt's boxes only: %v", n, err)
		}
		if got, err := b.OpenInPlace(kept, nonce, nil); err != nil || !bytes.Equal(got, packed) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// FuzzGCM opens arbitrary bytes: that fails and never panics, except for the real box.
func FuzzGCM(f *testing.F) {
	b, nonce := newTestBox(f), strings.Repeat("n", nonceSize)
	_, packed := unsealedBox(40)
	good := sealedGCM(f, b, packed, nonce)
	f.Add(good)
	f.Add(good[:GCMLead])
	f.Add([]byte(gcmMark))
	f.Add(b.Seal(packed, nonce))
	f.Fuzz(func(t *testing.T, box []byte) {
		was := bytes.Clone(box)
		got, err := b.OpenInPlace(box, nonce, nil)
		if err == nil && !bytes.Equal(got, packed) {
			t.Errorf("%x opens to %x", was, got)
		}
	})
}

// BenchmarkSealed compares the kinds of boxes for a piece of a file, sealed and opened in place, on one processor.
func BenchmarkSealed(b *testing.B) {
	box, nonce := newTestBox(b), strings.Repeat("n", nonceSize)
	_, packed := unsealedBox(floorPiece)
	room := make([]byte, 0, floorPiece+8192)
	for _, kind := range []struct {
		name string
		lead int
		seal func(buf []byte) ([]byte, error)
	}{
		{"salt", Lead(nonceSize), func(buf []byte) ([]byte, error) { return box.SealInPlace(buf, 0, nonce, nil), nil }},
		{"gcm", GCMLead, func(buf []byte) ([]byte, error) { return box.SealGCM(buf, 0, nonce) }},
	} {
		b.Run(kind.name+"/seal", func(b *testing.B) {
			b.SetBytes(floorPiece)
			for b.Loop() {
				if _, err := kind.seal(room[:kind.lead+floorPiece]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(kind.name+"/open", func(b *testing.B) {
			sealed, err := kind.seal(append(room[:kind.lead], packed...))
			if err != nil {
				b.Fatal(err)
			}
			work := make([]byte, len(sealed))
			b.SetBytes(floorPiece)
			for b.Loop() {
				copy(work, sealed)
				if _, err := box.OpenInPlace(work, nonce, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
