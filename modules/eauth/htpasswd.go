package eauth

import (
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"brine/modules/text/unixcrypt"

	"golang.org/x/crypto/bcrypt"
)

// Bounds of what one line of a file may make this machine compute.
const (
	maxBcryptCost = 17
	maxRounds     = 5_000_000
	maxCrypted    = 4096 // bytes of a password: the work of crypt grows with its square
)

// verify compares a password with an entry of an htpasswd file: bcrypt ($2y$ and its like), MD5 of Apache ($apr1$) and
// of crypt ($1$), SHA-1 ({SHA}), crypt's SHA-256 and SHA-512 ($5$, $6$), or the password itself. An entry that looks
// like a hash and is none of these is an error: as a plain password, whoever reads the file could type it. crypt's DES
// counts among those.
func verify(stored, given string) (bool, error) {
	switch {
	case len(given) > maxCrypted:
		return false, nil
	case strings.HasPrefix(stored, "{SHA}"):
		sum := sha1.Sum([]byte(given))
		return same(stored[5:], base64.StdEncoding.EncodeToString(sum[:])), nil
	case strings.HasPrefix(stored, "$2"):
		return verifyBcrypt(stored, given)
	case strings.HasPrefix(stored, "$apr1$"):
		return same(stored, unixcrypt.MD5("$apr1$", saltOf(stored, "$apr1$", 8), given)), nil
	case strings.HasPrefix(stored, "$1$"):
		return same(stored, unixcrypt.MD5("$1$", saltOf(stored, "$1$", 8), given)), nil
	case strings.HasPrefix(stored, "$5$"), strings.HasPrefix(stored, "$6$"):
		return verifySHACrypt(stored, given)
	case strings.HasPrefix(stored, "$"), strings.HasPrefix(stored, "{"), looksLikeDES(stored):
		return false, errors.New("the hash of the user is of an unknown kind")
	}
	return stored != "" && same(stored, given), nil
}

func looksLikeDES(s string) bool { return len(s) == 13 && strings.Trim(s, unixcrypt.Digits) == "" }

func verifyBcrypt(stored, given string) (bool, error) {
	cost, err := bcrypt.Cost([]byte(stored))
	if err != nil {
		return false, err
	}
	if cost > maxBcryptCost {
		return false, fmt.Errorf("a hash of bcrypt with cost %d, the most is %d", cost, maxBcryptCost)
	}
	err = bcrypt.CompareHashAndPassword([]byte(stored), []byte(given))
	if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		return false, nil
	}
	return err == nil, err
}

// saltOf is the salt behind a prefix, n bytes at most.
func saltOf(stored, prefix string, n int) string {
	salt, _, _ := strings.Cut(stored[len(prefix):], "$")
	return salt[:min(n, len(salt))]
}

// verifySHACrypt reads "$5$[rounds=N$]salt$hash" and "$6$...".
func verifySHACrypt(stored, given string) (bool, error) {
	magic, rest, rounds := stored[:3], stored[3:], 5000
	if text, ok := strings.CutPrefix(rest, "rounds="); ok {
		number, after, _ := strings.Cut(text, "$")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1000 || n > maxRounds {
			return false, fmt.Errorf("a hash with %.20q rounds", number)
		}
		rounds, rest = n, after
	}
	salt, sum, _ := strings.Cut(rest, "$")
	return sum != "" && same(sum, unixcrypt.SHA(magic, salt[:min(16, len(salt))], given, rounds)), nil
}
