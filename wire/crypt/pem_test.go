package crypt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/wiretest"
)

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestParsePrivateKeyForms(t *testing.T) {
	minion := mustPublic(t, wiretest.Load(t, "rsa").Keys()["minion"].Public)
	for _, tt := range []struct {
		file       string
		passphrase string
		pub        *PublicKey
	}{
		{"trad_des3.pem", "s3cret", minion},
		{"trad_aes128.pem", "s3cret", minion},
		{"trad_aes256.pem", "s3cret", minion},
		{"pkcs8.pem", "", minion},
		{"pkcs8.pem", "not needed", minion},
		{"pkcs8_aes256.pem", "s3cret", minion},
		{"pkcs8_des3.pem", "s3cret", minion},
		{"salt3006_keypass.pem", "s3cret", mustPublic(t, string(testdata(t, "salt3006_keypass.pub")))},
		{"salt3008_keypass.pem", "s3cret", mustPublic(t, string(testdata(t, "salt3008_keypass.pub")))},
	} {
		t.Run(tt.file, func(t *testing.T) {
			k, err := ParsePrivateKey(testdata(t, tt.file), tt.passphrase)
			if err != nil {
				t.Fatal(err)
			}
			if !k.Public().Equal(tt.pub) {
				t.Error("another key came out")
			}
			if tt.passphrase != "s3cret" {
				return
			}
			for _, wrong := range []string{"", "S3cret"} {
				if _, err := ParsePrivateKey(testdata(t, tt.file), wrong); !errors.Is(err, ErrBadKey) {
					t.Errorf("passphrase %q: got %v, want ErrBadKey", wrong, err)
				}
			}
		})
	}
}

func TestMarshalPEMWithPassphrase(t *testing.T) {
	k, err := ParsePrivateKey(testdata(t, "pkcs8.pem"), "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := k.MarshalPEM("geheim")
	if err != nil || !strings.Contains(string(text), "DEK-Info: AES-256-CBC,") {
		t.Fatalf("MarshalPEM: %.80s, %v", text, err)
	}
	back, err := ParsePrivateKey(text, "geheim")
	if err != nil || !back.Public().Equal(k.Public()) {
		t.Errorf("read back: %v", err)
	}
	if _, err := ParsePrivateKey(text, ""); !errors.Is(err, ErrBadKey) {
		t.Errorf("read back without the passphrase: %v", err)
	}
}

func TestParsePublicKeyForms(t *testing.T) {
	text := wiretest.Load(t, "rsa").Keys()["minion"].Public
	want := mustPublic(t, text)
	for name, form := range map[string]string{
		"as sent by 3006": text,
		"stripped":        strings.TrimSpace(text),
		"CRLF":            strings.ReplaceAll(text, "\n", "\r\n"),
		"PKCS#1":          string(testdata(t, "pkcs1_pub.pem")),
	} {
		if p, err := ParsePublicKey([]byte(form)); err != nil || !p.Equal(want) || p.PEM() != want.PEM() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if want.Bits() != 2048 {
		t.Errorf("Bits: %d", want.Bits())
	}
}

func TestBadKeys(t *testing.T) {
	ec := `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEjyQvvJHQ9Gq/nU8L2zxbGlPgYV0I
YRhP9A0VHmBGZYnbrtB5dR7rr7P3G0rCzUAMs4FoQfVZ3mKhR6bNqVxJ2A==
-----END PUBLIC KEY-----
`
	for _, text := range []string{
		"", "garbage", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", ec,
		"-----BEGIN RSA PUBLIC KEY-----\nAAAA\n-----END RSA PUBLIC KEY-----\n",
		"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n",
		"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
		"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
	} {
		if _, err := ParsePublicKey([]byte(text)); !errors.Is(err, ErrBadKey) {
			t.Errorf("ParsePublicKey(%.40q): got %v, want ErrBadKey", text, err)
		}
		if _, err := ParsePrivateKey([]byte(text), "x"); !errors.Is(err, ErrBadKey) {
			t.Errorf("ParsePrivateKey(%.40q): got %v, want ErrBadKey", text, err)
		}
	}
}

func TestUnknownAlgorithms(t *testing.T) {
	k, err := ParsePrivateKey(testdata(t, "pkcs8.pem"), "")
	if err != nil {
		t.Fatal(err)
	}
	_, signErr := k.Sign("PKCS1v15-SHA256", nil)
	_, decryptErr := k.Decrypt("", nil)
	_, encryptErr := k.Public().Encrypt("OAEP-SHA256", nil)
	verifyErr := k.Public().Verify(OAEPSHA1, nil, nil)
	for _, err := range []error{signErr, decryptErr, encryptErr, verifyErr} {
		if !errors.Is(err, ErrUnknownAlgorithm) {
			t.Errorf("got %v, want ErrUnknownAlgorithm", err)
		}
	}
	if !KnownSignature(PKCS1v15SHA224) || KnownSignature(OAEPSHA1) || !KnownEncryption(OAEPSHA224) ||
		KnownEncryption("") {
		t.Error("KnownSignature or KnownEncryption is wrong")
	}
}

func TestSizeLimits(t *testing.T) {
	backends(t, func(t *testing.T, key func(string) *PrivateKey) {
		k := key(wiretest.Load(t, "rsa").Keys()["minion"].Private)
		size := k.Public().size()
		if _, err := k.SignX931(make([]byte, size-1)); !errors.Is(err, errTooLong) {
			t.Errorf("SignX931 of %d bytes: %v", size-1, err)
		}
		for _, n := range []int{0, 1, size - 1, size, size + 1} {
			if _, err := k.Decrypt(OAEPSHA1, make([]byte, n)); !errors.Is(err, ErrDecrypt) {
				t.Errorf("Decrypt of %d bytes: %v", n, err)
			}
			if _, err := k.Public().RecoverX931(make([]byte, n)); !errors.Is(err, ErrBadSignature) {
				t.Errorf("RecoverX931 of %d bytes: %v", n, err)
			}
		}
		if _, err := k.Public().Encrypt(OAEPSHA1, make([]byte, size)); err == nil {
			t.Error("Encrypt of a whole block succeeded")
		}
		block := make([]byte, size)
		for i := range block {
			block[i] = 0xff
		}
		if _, err := k.ops.raw(block); err == nil {
			t.Error("raw of a number above the modulus succeeded")
		}
	})
}

func FuzzParsePrivateKey(f *testing.F) {
	for _, name := range []string{"trad_des3.pem", "pkcs8.pem", "pkcs8_aes256.pem", "pkcs8_des3.pem"} {
		f.Add(testdata(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) < 8192 && !strings.Contains(string(text), "ENCRYPTED PRIVATE") {
			_, _ = ParsePrivateKey(text, "s3cret")
		}
		_, _ = ParsePublicKey(text)
	})
}

func FuzzRecoverX931(f *testing.F) {
	file := wiretest.Load(f, "rsa")
	pub := mustPublic(f, file.Keys()["minion"].Public)
	for _, c := range file.List("x931") {
		f.Add(wiretest.Hex(f, c, "signature_hex"), []byte{0x6b, 0xbb, 0xba, 1, 0xcc})
	}
	f.Fuzz(func(t *testing.T, sig, block []byte) {
		_, _ = pub.RecoverX931(sig)
		msg, err := unpadX931(block)
		if err != nil {
			return
		}
		if again, err := padX931(msg, len(block)); err != nil || string(again) != string(block) {
			t.Errorf("block %x gives %x, which is padded to %x", block, msg, again)
		}
	})
}
