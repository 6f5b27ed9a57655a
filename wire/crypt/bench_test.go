package crypt

import (
	"crypto"
	"strings"
	"sync"
	"testing"

	"brine/wire/wiretest"
)

func BenchmarkBox(b *testing.B) {
	box, _ := vectorBox(b)
	nonce := strings.Repeat("0", nonceSize)
	for _, n := range []int{200, 64 << 10} {
		packed := make([]byte, n)
		sealed := box.Seal(packed, nonce)
		name := map[int]string{200: "200B", 64 << 10: "64KiB"}[n]
		b.Run("Seal/"+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(n))
			for b.Loop() {
				box.Seal(packed, nonce)
			}
		})
		b.Run("Open/"+name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(n))
			for b.Loop() {
				if _, err := box.Open(sealed, nonce); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewBox(b *testing.B) {
	key := NewKeyString()
	b.ReportAllocs()
	for b.Loop() {
		box, err := NewBox(key)
		if err != nil {
			b.Fatal(err)
		}
		box.Seal(nil, "")
	}
}

// BenchmarkPrivate compares the build's own signer (libcrypto with cgo) with the signer in Go.
func BenchmarkPrivate(b *testing.B) {
	k, err := ParsePrivateKey([]byte(wiretest.Load(b, "rsa").Keys()["master"].Private), "")
	if err != nil {
		b.Fatal(err)
	}
	ct, err := k.Public().Encrypt(OAEPSHA1, []byte(NewKeyString()))
	if err != nil {
		b.Fatal(err)
	}
	sum := digest(crypto.SHA1, nil)
	block, err := padX931([]byte("salt"), k.Public().size())
	if err != nil {
		b.Fatal(err)
	}
	for name, s := range map[string]signer{"build": k.ops, "go": goSigner{k.rsa}} {
		run := func(op string, f func() error) {
			b.Run(op+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("Sign", func() error { _, err := s.sign(crypto.SHA1, sum); return err })
		run("Decrypt", func() error { _, err := s.decrypt(crypto.SHA1, ct); return err })
		run("X931", func() error { _, err := s.raw(block); return err })
	}
}

func BenchmarkPublic(b *testing.B) {
	k, err := ParsePrivateKey([]byte(wiretest.Load(b, "rsa").Keys()["master"].Private), "")
	if err != nil {
		b.Fatal(err)
	}
	pub, msg := k.Public(), []byte(NewKeyString())
	sig, err := k.Sign(PKCS1v15SHA1, msg)
	if err != nil {
		b.Fatal(err)
	}
	tok, err := TokenOf(k)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Verify", func(b *testing.B) {
		for b.Loop() {
			_ = pub.Verify(PKCS1v15SHA1, msg, sig)
		}
	})
	b.Run("Encrypt", func(b *testing.B) {
		for b.Loop() {
			_, _ = pub.Encrypt(OAEPSHA1, msg)
		}
	})
	b.Run("RecoverX931", func(b *testing.B) {
		for b.Loop() {
			_, _ = pub.RecoverX931(tok)
		}
	})
	b.Run("Parse", func(b *testing.B) {
		text := []byte(pub.PEM())
		b.ReportAllocs()
		for b.Loop() {
			_, _ = ParsePublicKey(text)
		}
	})
}

// TestConcurrentUse runs one key and one box in many goroutines, for the race detector and for libcrypto.
func TestConcurrentUse(t *testing.T) {
	box, _ := vectorBox(t)
	k, err := ParsePrivateKey(testdata(t, "pkcs8.pem"), "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := TokenOf(k)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				tok, err := TokenOf(k)
				if err != nil || string(tok) != string(want) {
					t.Errorf("TokenOf: %v", err)
				}
				if _, err := k.Decrypt(OAEPSHA1, tok); err == nil {
					t.Error("a token was decrypted")
				}
				if _, err := box.Open(box.Seal(tok, ""), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
