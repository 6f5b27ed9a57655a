package crypt

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"testing"

	"brine/wire/payload"
)

// givesOnce is work that is handed out once; taken counts how often.
func givesOnce(h hash.Hash, text []byte) (b payload.Beside, taken *int) {
	given := false
	taken = new(int)
	return func() (hash.Hash, []byte, func(), bool) {
		if given {
			return nil, nil, nil, false
		}
		given = true
		return h, text, func() { *taken++ }, true
	}, taken
}

// checkBeside opens a box, and a forged one, together with a hash that already covers begun. It compares all results
// with the standard library.
func checkBeside(t *testing.T, b *Box, packed, begun, text []byte) {
	t.Helper()
	box := b.Seal(packed, "")
	forged := bytes.Clone(box)
	forged[len(forged)/2] ^= 1
	for _, at := range [][]byte{box, forged} {
		h := sha256.New()
		h.Write(begun)
		beside, taken := givesOnce(h, text)
		got, err := b.OpenInPlace(at, "", beside)
		if &at[0] == &forged[0] {
			if !errors.Is(err, ErrBadMAC) {
				t.Fatalf("box of %d bytes, forged: %v", len(box), err)
			}
		} else if err != nil || !bytes.Equal(got, packed) {
			t.Fatalf("box of %d bytes beside %d: %v", len(box), len(text), err)
		}
		if *taken == 0 { // if nobody took the work, the owner of the hash does it
			h.Write(text)
		}
		h.Write([]byte("more"))
		want := sha256.Sum256(append(append(bytes.Clone(begun), text...), "more"...))
		if *taken > 1 || !bytes.Equal(h.Sum(nil), want[:]) {
			t.Fatalf("box of %d bytes beside %d after %d: another hash, taken %d times", len(box), len(text),
				len(begun), *taken)
		}
	}
}

// TestBeside: a box opens, or does not, and a hash continues, whatever the lengths of both.
func TestBeside(t *testing.T) {
	b := newTestBox(t)
	_, text := unsealedBox(20000)
	for i, n := range []int{0, 100, mostAlone - 60, mostAlone, 5000, 5001, 5063, 12288, 20000} {
		for j, m := range []int{0, 1, 63, 64, 65, 4096, 9999, 20000} {
			checkBeside(t, b, text[:n], text[:[]int{0, 64, 30, 640}[(i+j)%4]], text[20000-m:])
		}
	}
	h := sha256.New224() // of another kind
	beside, _ := givesOnce(h, text)
	if _, err := b.OpenInPlace(b.Seal(text, ""), "", beside); err != nil {
		t.Fatal(err)
	}
	if want := sha256.Sum224(text); !bytes.Equal(h.Sum(nil), want[:]) {
		t.Error("another SHA-224")
	}
}

// FuzzLanes compares boxes sealed alone and by two, and hashes beside a MAC, with the standard library, for any lengths
// and positions in memory.
func FuzzLanes(f *testing.F) {
	f.Add(uint16(5000), uint16(4200), uint8(3), uint8(64), []byte("text"))
	f.Add(uint16(4096), uint16(65000), uint8(0), uint8(1), []byte{})
	f.Fuzz(func(t *testing.T, first, second uint16, skip, begun uint8, seed []byte) {
		a, b := newTestBox(t), newTestBox(t)
		n, m := mostAlone+int(first), mostAlone+int(second)
		one, packed := unsealedBox(n)
		two, other := unsealedBox(m)
		copy(packed, seed)
		copy(one[Lead(0):], seed)
		want, wantTwo := byGo(t, a, one[:16], packed, ""), byGo(t, b, two[:16], other, "")
		one = append(make([]byte, skip, int(skip)+len(one)), one...)[skip:] // not at the start of an allocation
		if haveLanes() {
			sealBoth(t, a, b, one, two, n, m)
		} else {
			a.finish(one, "", Lead(0)+n, nil)
			b.finish(two, "", Lead(0)+m, nil)
		}
		if !bytes.Equal(one, want) || !bytes.Equal(two, wantTwo) {
			t.Fatalf("%d and %d bytes together: other boxes", n, m)
		}
		checkBeside(t, a, packed, other[:begun], other[skip:])
	})
}
