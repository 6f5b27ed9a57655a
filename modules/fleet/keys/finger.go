package keys

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// DefaultHash is Salt's default of hash_type.
const DefaultHash = "sha256"

// Fingerprint is the fingerprint of a key text: the hash of its body, which is every line that is not blank
// save the first and the last, line ends kept, as lower-case hex pairs joined by colons. hashType "" is
// DefaultHash; an unknown one is an error. Unlike Salt: 3008.3 hashes the whole text in salt-key and so
// disagrees with the key.finger of its own minions; this is the form of 3006, 3007 and the minions.
func Fingerprint(pem, hashType string) (string, error) {
	h, err := newHash(hashType)
	if err != nil {
		return "", err
	}
	var body []string
	for line := range strings.Lines(unixLines(pem)) {
		if strings.TrimSpace(line) != "" {
			body = append(body, line)
		}
	}
	if len(body) > 2 {
		for _, line := range body[1 : len(body)-1] {
			h.Write([]byte(line))
		}
	}
	return colons(hex.EncodeToString(h.Sum(nil))), nil
}

func newHash(name string) (hash.Hash, error) {
	switch strings.ToLower(name) {
	case "", DefaultHash:
		return sha256.New(), nil
	case "md5":
		return md5.New(), nil
	case "sha1":
		return sha1.New(), nil
	case "sha224":
		return sha256.New224(), nil
	case "sha384":
		return sha512.New384(), nil
	case "sha512":
		return sha512.New(), nil
	}
	return nil, fmt.Errorf("keys: unknown hash_type %q", name)
}

// colons joins hex pairs with ":".
func colons(digits string) string {
	var b strings.Builder
	for i := 0; i < len(digits); i += 2 {
		if i > 0 {
			b.WriteByte(':')
		}
		b.WriteString(digits[i : i+2])
	}
	return b.String()
}
