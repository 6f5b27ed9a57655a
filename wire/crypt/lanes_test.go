package crypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"testing"
)

// byGo is the box around a text under an IV, made by the standard library.
func byGo(t testing.TB, b *Box, iv, packed []byte, nonce string) []byte {
	t.Helper()
	block, err := aes.NewCipher(b.key[:aesKeySize])
	if err != nil {
		t.Fatal(err)
	}
	text := append([]byte(prefix+nonce), packed...)
	pad := aes.BlockSize - len(text)%aes.BlockSize
	text = append(text, bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(text, text)
	mac := hmac.New(sha256.New, b.key[aesKeySize:])
	box := append(bytes.Clone(iv), text...)
	mac.Write(box)
	return mac.Sum(box)
}

func newTestBox(t testing.TB) *Box {
	t.Helper()
	b, err := NewBox(NewKeyString())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unsealedBox is memory for a box with IV and payload.
func unsealedBox(n int) (box, packed []byte) {
	packed = make([]byte, n)
	rand.Read(packed)
	box = make([]byte, SealedSize(n, 0))
	rand.Read(box[:aes.BlockSize])
	copy(box[Lead(0):], packed)
	return box, packed
}

// TestLanes: boxes of any sizes, sealed alone and by two, equal those of the standard library.
func TestLanes(t *testing.T) {
	if !haveLanes() {
		t.Log("this processor, or this build, seals no two boxes side by side: libcrypto or Go does it")
	}
	sizes := []int{mostAlone - 100, mostAlone - 56, 10000, 65536, 1<<20 + 7}
	for n := mostAlone; n < mostAlone+200; n += 13 { // every remainder of both block sizes
		sizes = append(sizes, n)
	}
	a, b := newTestBox(t), newTestBox(t)
	for i, n := range sizes {
		m := sizes[(i*7+3)%len(sizes)]
		one, packed := unsealedBox(n)
		two, other := unsealedBox(m)
		want, wantTwo := byGo(t, a, one[:aes.BlockSize], packed, ""), byGo(t, b, two[:aes.BlockSize], other, "")
		alone := bytes.Clone(one)
		if a.finish(alone, "", Lead(0)+n, nil); !bytes.Equal(alone, want) {
			t.Errorf("%d bytes alone: another box", n)
		}
		if haveLanes() && n >= mostAlone && m >= mostAlone {
			sealBoth(t, a, b, one, two, n, m)
			if !bytes.Equal(one, want) || !bytes.Equal(two, wantTwo) {
				t.Errorf("%d and %d bytes together: other boxes", n, m)
			}
		}
	}
}

// sealBoth seals two boxes in the same turn: it holds the turn until both wait.
func sealBoth(t *testing.T, a, b *Box, one, two []byte, n, m int) {
	t.Helper()
	p := &Pairs{most: 1, sealing: 1}
	var all sync.WaitGroup
	all.Go(func() { a.finish(one, "", Lead(0)+n, p) })
	all.Go(func() { b.finish(two, "", Lead(0)+m, p) })
	for waiting := 0; waiting < 2; {
		p.mu.Lock()
		waiting = len(p.waiting)
		p.mu.Unlock()
	}
	p.next()
	all.Wait()
	if p.sealing != 0 || len(p.waiting) != 0 {
		t.Errorf("%d seal, %d wait", p.sealing, len(p.waiting))
	}
}

// TestPairs: many goroutines seal at the same time, and every box is correct.
func TestPairs(t *testing.T) {
	p, boxes := NewPairs(), []*Box{newTestBox(t), newTestBox(t), newTestBox(t)}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			b := boxes[g%len(boxes)]
			for i := range 20 {
				_, packed := unsealedBox(5000 + 997*((g*20+i)%13))
				buf := b.SealInPlace(append(make([]byte, 3+Lead(0), 8192), packed...), 3, "", p)
				if got, err := b.Open(buf[3:], ""); err != nil || !bytes.Equal(got, packed) {
					t.Errorf("opened %d bytes of %d: %v", len(got), len(packed), err)
				}
			}
		})
	}
	all.Wait()
	if p.sealing != 0 || len(p.waiting) != 0 {
		t.Errorf("%d seal, %d wait at the end", p.sealing, len(p.waiting))
	}
}

// TestSumState: the standard library stores the state of a hash as the lanes expect it.
func TestSumState(t *testing.T) {
	text := make([]byte, 1000)
	rand.Read(text)
	h := sha256.New()
	h.Write(text[:192])
	s, length, err := stateOf(h)
	if err != nil || length != 192 {
		t.Fatalf("%d, %v", length, err)
	}
	h.Reset()
	if err := setState(h, s, length); err != nil {
		t.Fatal(err)
	}
	h.Write(text[192:])
	if want := sha256.Sum256(text); !bytes.Equal(h.Sum(nil), want[:]) {
		t.Error("another hash")
	}
}

func BenchmarkPairs(b *testing.B) {
	one, two := newTestBox(b), newTestBox(b)
	x, _ := unsealedBox(1 << 20)
	y, _ := unsealedBox(1 << 20)
	u := &unsealed{key: one.key[:aesKeySize], box: x[:len(x)-macSize]}
	v := &unsealed{key: two.key[:aesKeySize], box: y[:len(y)-macSize]}
	b.Run("go and libcrypto", func(b *testing.B) {
		b.SetBytes(int64(len(x)))
		for b.Loop() {
			largeCBC(u.key, x[:16], x[16:len(x)-macSize], true)
			one.mac(x[:len(x)-macSize], nil)
		}
	})
	b.Run("alone", func(b *testing.B) {
		b.SetBytes(int64(len(x)))
		for b.Loop() {
			sealOne(u)
		}
	})
	b.Run("two", func(b *testing.B) {
		b.SetBytes(int64(2 * len(x)))
		for b.Loop() {
			sealTwo(u, v)
		}
	})
}
