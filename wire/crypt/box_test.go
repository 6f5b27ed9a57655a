package crypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"strings"
	"testing"

	"brine/wire/wiretest"
)

func vectorBox(t testing.TB) (*Box, *wiretest.File) {
	t.Helper()
	f := wiretest.Load(t, "crypticle")
	b, err := NewBox(f.Doc.Str("key_string"))
	if err != nil {
		t.Fatal(err)
	}
	return b, f
}

func TestBoxVectors(t *testing.T) {
	b, f := vectorBox(t)
	for _, c := range f.List("encrypt") {
		want, nonce := wiretest.Hex(t, c, "ciphertext_hex"), c.Str("nonce")
		got, err := b.Open(want, nonce)
		if !c.Has("msgpack_hex") {
			if !errors.Is(err, ErrNotOurs) {
				t.Errorf("%s: Open: got %v, want ErrNotOurs", c.Str("name"), err)
			}
			continue
		}
		packed := wiretest.Hex(t, c, "msgpack_hex")
		if err != nil || !bytes.Equal(got, packed) {
			t.Errorf("%s: Open: got %x, %v", c.Str("name"), got, err)
		}
		box := make([]byte, SealedSize(len(packed), len(nonce)))
		copy(box, wiretest.Hex(t, c, "iv_hex"))
		b.seal(box, packed, nonce)
		if !bytes.Equal(box, want) {
			t.Errorf("%s: seal: got %x", c.Str("name"), box)
		}
	}
}

func TestBoxFailureVectors(t *testing.T) {
	b, f := vectorBox(t)
	for _, c := range f.List("decrypt_failures") {
		var want error
		switch result, _ := c.Value("result").(string); {
		case strings.Contains(result, "AuthenticationError"):
			want = ErrBadMAC
		case strings.Contains(result, "Nonce verification"):
			want = ErrBadNonce
		case c.Map("result") != nil:
			want = ErrNotOurs
		}
		if _, err := b.Open(wiretest.Hex(t, c, "ciphertext_hex"), c.Str("nonce")); !errors.Is(err, want) {
			t.Errorf("%s: Open: got %v, want %v", c.Str("name"), err, want)
		}
	}
}

// authentic seals any text, even one that Seal never makes.
func authentic(b *Box, text []byte) []byte {
	return b.mac(text, bytes.Clone(text))
}

func TestOpenOddBoxes(t *testing.T) {
	b, _ := vectorBox(t)
	good := b.Seal([]byte{0x80}, "")
	for _, tt := range []struct {
		name  string
		box   []byte
		nonce string
		want  error
	}{
		{"nothing", nil, "", ErrBadMAC},
		{"a MAC alone, wrong", make([]byte, macSize), "", ErrBadMAC},
		{"a MAC alone, right", authentic(b, nil), "", ErrNotOurs},
		{"an IV alone", authentic(b, make([]byte, aes.BlockSize)), "", ErrNotOurs},
		{"half a block", authentic(b, make([]byte, 40)), "", ErrNotOurs},
		{"no room for the nonce", good, strings.Repeat("a", nonceSize), ErrBadNonce},
		{"nonce of another length", b.Seal([]byte{0x80}, "abc"), "abc", ErrBadNonce},
		{"one byte short", good[:len(good)-1], "", ErrBadMAC},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := b.Open(tt.box, tt.nonce); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestBoxRoundTrip(t *testing.T) {
	b, _ := vectorBox(t)
	nonce := strings.Repeat("5", nonceSize)
	for n := range 70 {
		packed := bytes.Repeat([]byte{byte(n)}, n)
		box := b.Seal(packed, nonce)
		if got, err := b.Open(box, nonce); err != nil || !bytes.Equal(got, packed) {
			t.Fatalf("%d bytes: got %x, %v", n, got, err)
		}
		if other := b.Seal(packed, nonce); bytes.Equal(other, box) {
			t.Fatalf("%d bytes: two boxes with one IV", n)
		}
	}
}

func TestKeyStrings(t *testing.T) {
	if s := NewKeyString(); len(s) != 76 || s == NewKeyString() {
		t.Errorf("NewKeyString: %d characters", len(s))
	}
	f := wiretest.Load(t, "crypticle")
	if got := f.Doc.Str("generate_key_string_from_bytes_0_to_55"); got != f.Doc.Str("key_string") {
		t.Errorf("the vectors changed: %s", got)
	}
	good := f.Doc.Str("key_string")
	for _, s := range []string{"", "AAAA", good + "AAAA", good[4:], "!" + good[1:]} {
		if _, err := NewBox(s); !errors.Is(err, ErrBadKey) {
			t.Errorf("NewBox(%d characters): got %v, want ErrBadKey", len(s), err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	b, file := vectorBox(f)
	for _, c := range file.List("encrypt") {
		f.Add(wiretest.Hex(f, c, "ciphertext_hex"), c.Str("nonce"))
		f.Add(wiretest.Hex(f, c, "plaintext_hex"), "")
	}
	f.Fuzz(func(t *testing.T, data []byte, nonce string) {
		if _, err := b.Open(data, nonce); err == nil && nonce != "" && len(nonce) != nonceSize {
			t.Error("opened with a nonce that Salt never sends")
		}
		if len(data)%aes.BlockSize == 0 { // longer than the MAC
			if text, err := b.Open(authentic(b, data), nonce); err == nil && len(text) > len(data) {
				t.Error("a text longer than its box")
			}
		}
	})
}

// TestLargeBoxes: libcrypto and Go make the same large box, and each opens the other's, in place and not.
func TestLargeBoxes(t *testing.T) {
	b, err := NewBox(NewKeyString())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 15, 16, 3900, 4095, 4096, 4097, 65536, 1 << 20} {
		packed := make([]byte, n)
		for i := range packed {
			packed[i] = byte(i * i)
		}
		box := b.Seal(packed, "")
		text := bytes.Clone(packed)
		text = append([]byte(prefix), text...)
		pad := aes.BlockSize - len(text)%aes.BlockSize
		text = append(text, bytes.Repeat([]byte{byte(pad)}, pad)...)
		cipher.NewCBCEncrypter(b.block, box[:aes.BlockSize]).CryptBlocks(text, text)
		if !bytes.Equal(text, box[aes.BlockSize:len(box)-macSize]) {
			t.Errorf("%d bytes: another ciphertext than Go's", n)
		}
		before := bytes.Clone(box)
		got, err := b.Open(box, "")
		if err != nil || !bytes.Equal(got, packed) || !bytes.Equal(box, before) {
			t.Errorf("%d bytes: Open: %v", n, err)
		}
		forged := bytes.Clone(box)
		forged[len(forged)/2]++
		held := bytes.Clone(forged)
		if _, err := b.OpenInPlace(forged, "", nil); !errors.Is(err, ErrBadMAC) || !bytes.Equal(forged, held) {
			t.Errorf("%d bytes, forged: %v", n, err)
		}
		if got, err := b.OpenInPlace(box, "", nil); err != nil || !bytes.Equal(got, packed) {
			t.Errorf("%d bytes: OpenInPlace: %v", n, err)
		}
	}
}
