package eauth

import (
	"bufio"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"hash"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/wire/payload"
)

// backend checks the credentials of one request against one external_auth section.
type backend func(s *Service, conf *payload.Map, c payload.Credentials) bool

// backends are those brine has. Salt has more; see the changelog's "not yet" list.
var backends = map[string]backend{"auto": authAuto, "file": authFile, "sharedsecret": authSharedSecret}

// Backends are the names of the backends, sorted, as the command line lists them.
func Backends() []string {
	names := make([]string, 0, len(backends))
	for name := range backends {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Fields are the words a backend wants from a user, in the order in which a command line asks for them; nil
// for a backend that does not exist.
func Fields(name string) []string {
	if backends[name] == nil {
		return nil
	}
	return []string{"username", "password"}
}

// failTime is what a failure takes, give or take a quarter.
const failTime = time.Second

// failureTime is how long one failure takes.
func failureTime() time.Duration {
	return failTime*3/4 + time.Duration(rand.Int64N(int64(failTime/2)))
}

func authAuto(*Service, *payload.Map, payload.Credentials) bool { return true }

func authSharedSecret(s *Service, _ *payload.Map, c payload.Credentials) bool {
	secret := s.opt.SharedSecret
	return secret != "" && subtle.ConstantTimeCompare([]byte(c.Password()), []byte(secret)) == 1
}

// digests are the hash types of a text password file.
var digests = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// authFile looks a user up in a text file of fields (salt/auth/file.py, filetype text). The first line of a
// user decides. A file with a line that lacks a field fails, as in Salt.
func authFile(_ *Service, conf *payload.Map, c payload.Credentials) bool {
	if t := conf.Str("^filetype"); t != "" && t != "text" {
		return false
	}
	f, err := os.Open(conf.Str("^filename"))
	if err != nil {
		return false
	}
	defer f.Close()
	sep := conf.Str("^field_separator")
	if sep == "" {
		sep = ":"
	}
	userAt, passAt := fieldNumber(conf, "^username_field", 1)-1, fieldNumber(conf, "^password_field", 2)-1
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		cells := strings.Split(strings.TrimSpace(lines.Text()), sep)
		if userAt < 0 || passAt < 0 || userAt >= len(cells) || passAt >= len(cells) {
			return false
		}
		if cells[userAt] == c.Username() {
			return samePassword(conf.Str("^hashtype"), cells[passAt], c.Password())
		}
	}
	return false
}

func fieldNumber(conf *payload.Map, key string, def int) int {
	if n, ok := conf.Int(key); ok {
		return int(n)
	}
	if n, err := strconv.Atoi(conf.Str(key)); err == nil {
		return n
	}
	return def
}

func samePassword(hashType, stored, given string) bool {
	if hashType != "" && hashType != "plaintext" {
		digest := digests[hashType]
		if digest == nil {
			return false
		}
		h := digest()
		h.Write([]byte(given))
		given = hex.EncodeToString(h.Sum(nil))
	}
	return subtle.ConstantTimeCompare([]byte(stored), []byte(given)) == 1
}
