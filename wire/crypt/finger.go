package crypt

import (
	"crypto"
	_ "crypto/md5"    // hash_type md5
	_ "crypto/sha512" // hash_type sha384 and sha512
	"encoding/hex"
	"fmt"
	"strings"
)

// Fingerprint returns the fingerprint of a key file as salt-key -f and master_finger show it: the hash over the lines
// between the first and the last non-blank line, each with its newline (CRLF counts as LF), as hex pairs joined by
// colons. hashType is Salt's hash_type. Source: salt/utils/crypt.py, pem_finger.
func Fingerprint(pem []byte, hashType string) (string, error) {
	h, err := namedHash(hashType)
	if err != nil {
		return "", err
	}
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(string(pem), "\r\n", "\n")) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) < 2 {
		return "", fmt.Errorf("%w: nothing to take a fingerprint of", ErrBadKey)
	}
	sum := digest(h, []byte(strings.Join(lines[1:len(lines)-1], "")))
	return strings.Join(hexPairs(sum), ":"), nil
}

func hexPairs(sum []byte) []string {
	pairs := make([]string, len(sum))
	for i, b := range sum {
		pairs[i] = hex.EncodeToString([]byte{b})
	}
	return pairs
}

func namedHash(name string) (crypto.Hash, error) {
	switch strings.ToLower(name) {
	case "md5":
		return crypto.MD5, nil
	case "sha1":
		return crypto.SHA1, nil
	case "sha224":
		return crypto.SHA224, nil
	case "sha256":
		return crypto.SHA256, nil
	case "sha384":
		return crypto.SHA384, nil
	case "sha512":
		return crypto.SHA512, nil
	}
	return 0, fmt.Errorf("%w: hash_type %.40q", ErrUnknownAlgorithm, name)
}
