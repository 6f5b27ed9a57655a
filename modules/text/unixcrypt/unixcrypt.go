// Package unixcrypt makes the hashes of passwords that stand in /etc/shadow and in files of htpasswd, as the crypt of
// the C library makes them: MD5 ($1$), SHA-256 ($5$), SHA-512 ($6$) and bcrypt ($2b$). The old one by DES is not among
// them.
package unixcrypt

import (
	"errors"
	"strconv"
	"strings"
)

// Failed is what crypt returns for a setting that is none, and for a password that is too long.
const Failed = "*0"

// Bounds of what one call may make this machine compute. The C library takes 999,999,999 rounds and a cost of 31.
const (
	maxRounds   = 5_000_000
	maxCost     = 17
	maxPassword = 512 // bytes, as in the C library
)

// ErrWork means more rounds than are computed here.
var ErrWork = errors.New("the hash has too many rounds")

// Crypt is crypt(3) for one of the methods above: setting is "$6$salt", "$6$rounds=5000$salt", "$2b$12$salt". The error
// is ErrWork.
func Crypt(password, setting string) (string, error) {
	if len(password) > maxPassword || strings.ContainsFunc(setting, func(r rune) bool {
		return r <= ' ' || r > '~' ||
			strings.ContainsRune(`!*:;\`, r)
	}) {
		return Failed, nil
	}
	if len(setting) < 3 {
		return Failed, nil
	}
	switch magic := setting[:3]; magic {
	case "$1$":
		return MD5(magic, saltOf(setting[3:], 8), password), nil
	case "$5$", "$6$":
		return shaSetting(password, magic, setting[3:])
	case "$2b":
		return bcryptSetting(password, setting)
	}
	return Failed, nil
}

// saltOf is what stands before the next dollar, n bytes at most.
func saltOf(s string, n int) string {
	salt, _, _ := strings.Cut(s, "$")
	return salt[:min(n, len(salt))]
}

func shaSetting(password, magic, rest string) (string, error) {
	rounds, told := 5000, ""
	if text, ok := strings.CutPrefix(rest, "rounds="); ok {
		number, after, ends := strings.Cut(text, "$")
		n, err := strconv.Atoi(number)
		if err != nil || !ends || number[0] < '1' || number[0] > '9' || n < 1000 || n > 999_999_999 {
			return Failed, nil
		}
		if n > maxRounds {
			return "", ErrWork
		}
		rounds, told, rest = n, "rounds="+number+"$", after
	}
	salt := saltOf(rest, 16)
	return magic + told + salt + "$" + SHA(magic, salt, password, rounds), nil
}
