package crypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
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

// TestLaneVectors: AES-192-CBC of NIST SP 800-38A, F.2.3, and the SHA-256 of a million "a" of FIPS 180 (its third
// example), alone and by two.
func TestLaneVectors(t *testing.T) {
	if !haveLanes() {
		t.Skip("no lanes")
	}
	raw := func(text string) []byte {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	key, iv := raw("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b"), raw("000102030405060708090a0b0c0d0e0f")
	plain := raw("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" +
		"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
	want := append(bytes.Clone(iv), raw("4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"+
		"571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd")...)
	made := func() *unsealed { return &unsealed{key: key, box: append(bytes.Clone(iv), plain...)} }
	one, u, v := made(), made(), made()
	sealOne(one)
	sealTwo(u, v)
	for i, got := range []*unsealed{one, u, v} {
		if !bytes.Equal(got.box, want) {
			t.Errorf("%d: AES gives %x, want %x", i, got.box, want)
		}
	}
	text := bytes.Repeat([]byte("a"), 1_000_000) // whole blocks
	begin, _, err := stateOf(sha256.New())
	if err != nil {
		t.Fatal(err)
	}
	s, other := begin, begin
	sumTwo(&s, text, &other, text)
	for _, state := range []laneSum{s, other} {
		h := sha256.New()
		if err := setState(h, state, uint64(len(text))); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(h.Sum(nil)); got !=
			"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" {
			t.Errorf("SHA-256 gives %s", got)
		}
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

// BenchmarkLanes seals boxes of some sizes in lanes, alone and by two, and by libcrypto's CBC with Go's SHA-256. The
// kinds take turns, and the median of each counts, so that a load of the machine meets all alike. "gain" is how many
// times as long libcrypto takes.
func BenchmarkLanes(b *testing.B) {
	if !haveLanes() {
		b.Skip("no lanes")
	}
	for _, size := range []int{4 << 10, 64 << 10, 256 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			one, two := newTestBox(b), newTestBox(b)
			x, _ := unsealedBox(size)
			y, _ := unsealedBox(size)
			u := &unsealed{key: one.key[:aesKeySize], box: x[:len(x)-macSize]}
			v := &unsealed{key: two.key[:aesKeySize], box: y[:len(y)-macSize]}
			var took [3][]time.Duration
			turn := func(i int, f func()) {
				began := time.Now()
				f()
				took[i] = append(took[i], time.Since(began))
			}
			for b.Loop() {
				turn(0, func() {
					largeCBC(u.key, x[:16], x[16:len(x)-macSize], true)
					one.mac(x[:len(x)-macSize], nil)
				})
				turn(1, func() { sealOne(u) })
				turn(2, func() { sealTwo(u, v) })
			}
			var us [3]float64
			for i, name := range []string{"us/libcrypto", "us/alone", "us/two"} {
				slices.Sort(took[i])
				us[i] = took[i][len(took[i])/2].Seconds() * 1e6
				b.ReportMetric(us[i], name)
			}
			b.ReportMetric(us[0]/us[1], "gain-alone")
			b.ReportMetric(2*us[0]/us[2], "gain-two")
		})
	}
}
