package crypt

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/wiretest"
)

// backends runs a test with each implementation of the private operations.
func backends(t *testing.T, run func(t *testing.T, key func(pem string) *PrivateKey)) {
	for _, pure := range []bool{false, true} {
		name := "build"
		if pure {
			name = "go"
		}
		t.Run(name, func(t *testing.T) {
			run(t, func(pem string) *PrivateKey {
				k, err := ParsePrivateKey([]byte(pem), "")
				if err != nil {
					t.Fatal(err)
				}
				if pure {
					k.ops = goSigner{k.rsa}
				}
				return k
			})
		})
	}
}

func mustPublic(t testing.TB, pem string) *PublicKey {
	t.Helper()
	p, err := ParsePublicKey([]byte(pem))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestKeysOfVectors(t *testing.T) {
	for name, pair := range wiretest.Load(t, "rsa").Keys() {
		k, err := ParsePrivateKey([]byte(pair.Private), "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		pub := mustPublic(t, pair.Public)
		if !k.Public().Equal(pub) || k.Public().PEM() != strings.TrimSpace(pair.Public) ||
			pub.PEM() != k.Public().PEM() {
			t.Errorf("%s: the public half of the private key is not the public key", name)
		}
		if text, err := k.MarshalPEM(""); err != nil || string(text) != pair.Private {
			t.Errorf("%s: MarshalPEM is not the file that was read: %v", name, err)
		}
	}
}

func TestX931Vectors(t *testing.T) {
	f := wiretest.Load(t, "rsa")
	backends(t, func(t *testing.T, key func(string) *PrivateKey) {
		for _, c := range f.List("x931") {
			k := key(f.Keys()[c.Str("key")].Private)
			msg, want := wiretest.Hex(t, c, "message_hex"), wiretest.Hex(t, c, "signature_hex")
			sig, err := k.SignX931(msg)
			if err != nil || !bytes.Equal(sig, want) {
				t.Errorf("SignX931(%d bytes with %s): wrong signature, %v", len(msg), c.Str("key"), err)
			}
			got, err := k.Public().RecoverX931(want)
			if c.Has("recover_error") {
				if !errors.Is(err, ErrBadSignature) {
					t.Errorf("RecoverX931 of %d bytes: got %v, want ErrBadSignature", len(msg), err)
				}
			} else if err != nil || !bytes.Equal(got, msg) {
				t.Errorf("RecoverX931 of %d bytes: got %x, %v", len(msg), got, err)
			}
		}
	})
	pub := mustPublic(t, f.Keys()["minion"].Public)
	for _, c := range f.List("x931_bad_with_minion_pub") {
		if _, err := pub.RecoverX931(wiretest.Hex(t, c, "signature_hex")); !errors.Is(err, ErrBadSignature) {
			t.Errorf("RecoverX931(%s): got %v, want ErrBadSignature", c.Str("name"), err)
		}
	}
}

func TestTokenVectors(t *testing.T) {
	f := wiretest.Load(t, "auth_v3")
	backends(t, func(t *testing.T, key func(string) *PrivateKey) {
		tok, err := TokenOf(key(f.Keys()["minion"].Private))
		if err != nil || !bytes.Equal(tok, f.Token()) {
			t.Errorf("TokenOf: %x, %v", tok, err)
		}
	})
}

func TestSignatureVectors(t *testing.T) {
	f := wiretest.Load(t, "rsa")
	backends(t, func(t *testing.T, key func(string) *PrivateKey) {
		for _, c := range f.List("pkcs1v15") {
			k, algo := key(f.Keys()[c.Str("key")].Private), c.Str("algorithm")
			msg, want := wiretest.Hex(t, c, "message_hex"), wiretest.Hex(t, c, "signature_hex")
			if sig, err := k.Sign(algo, msg); err != nil || !bytes.Equal(sig, want) {
				t.Errorf("Sign with %s: wrong signature, %v", algo, err)
			}
			if err := k.Public().Verify(algo, msg, want); err != nil {
				t.Errorf("Verify with %s: %v", algo, err)
			}
			if err := k.Public().Verify(algo, append(msg, 'x'), want); !errors.Is(err, ErrBadSignature) {
				t.Errorf("Verify of another message: got %v, want ErrBadSignature", err)
			}
		}
	})
}

func TestOAEPVectors(t *testing.T) {
	f := wiretest.Load(t, "rsa")
	backends(t, func(t *testing.T, key func(string) *PrivateKey) {
		for _, c := range f.List("oaep") {
			k, algo := key(f.Keys()[c.Str("recipient")].Private), c.Str("algorithm")
			want := wiretest.Hex(t, c, "plaintext_hex")
			ct := wiretest.Hex(t, c, "ciphertext_hex")
			if got, err := k.Decrypt(algo, ct); err != nil || !bytes.Equal(got, want) {
				t.Errorf("Decrypt with %s: got %q, %v", algo, got, err)
			}
			ct[17] ^= 1
			if _, err := k.Decrypt(algo, ct); !errors.Is(err, ErrDecrypt) {
				t.Errorf("Decrypt of a damaged text: got %v, want ErrDecrypt", err)
			}
			own, err := k.Public().Encrypt(algo, want)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := k.Decrypt(algo, own); err != nil || !bytes.Equal(got, want) {
				t.Errorf("Decrypt of our own text: got %q, %v", got, err)
			}
		}
	})
}

func TestPrecomputedSignatureVector(t *testing.T) {
	f := wiretest.Load(t, "rsa")
	c := f.Doc.Map("master_pubkey_signature_file")
	sig, err := base64.StdEncoding.DecodeString(strings.TrimSpace(c.Str("content")))
	if err != nil {
		t.Fatal(err)
	}
	pub := mustPublic(t, f.Keys()[c.Str("signing_key")].Public)
	if err := pub.Verify(PKCS1v15SHA1, []byte(f.Keys()["master"].Public), sig); err != nil {
		t.Error(err)
	}
}

func TestFingerprintVectors(t *testing.T) {
	f := wiretest.Load(t, "rsa")
	check := func(text, hashType, want string) {
		t.Helper()
		if got, err := Fingerprint([]byte(text), hashType); err != nil || got != want {
			t.Errorf("Fingerprint with %s: got %s, %v, want %s", hashType, got, err, want)
		}
	}
	for field, private := range map[string]bool{"pem_finger": false, "pem_finger_private": true} {
		for key, sums := range f.Doc.Map(field).All() {
			text := f.Keys()[key.(string)].Public
			if private {
				text = f.Keys()[key.(string)].Private
			}
			for hashType, want := range sums.(*payload.Map).All() {
				check(text, hashType.(string), want.(string))
				check(strings.TrimSpace(text), hashType.(string), want.(string))
			}
		}
	}
	minion := f.Keys()["minion"].Public
	check(strings.ReplaceAll(minion, "\n", "\r\n"), "sha256", f.Doc.Str("pem_finger_crlf_minion_sha256"))
	if _, err := Fingerprint([]byte(minion), "crc32"); !errors.Is(err, ErrUnknownAlgorithm) {
		t.Errorf("Fingerprint with crc32: %v", err)
	}
	if _, err := Fingerprint([]byte("\n x \n"), "sha256"); !errors.Is(err, ErrBadKey) {
		t.Errorf("Fingerprint of one line: %v", err)
	}
}
