package eauth

import (
	"bufio"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"strings"

	"brine/wire/payload"
)

// maxPasswordFile is how much of a file of passwords is read, in bytes.
const maxPasswordFile = 64 << 20

// authFile looks a user up in a file: fields of a text (^filetype text, the default), or what htpasswd and htdigest of
// Apache write. The first line of a user decides. A line that lacks a field fails the whole file, as in Salt. Source:
// salt/auth/file.py.
func authFile(_ context.Context, a *attempt) (*admitted, error) {
	kind := a.setting("filetype", "text")
	check, ok := map[string]func(*attempt, io.Reader) (bool, error){"text": inText, "htpasswd": inHtpasswd,
		"htdigest": inHtdigest}[kind]
	if !ok {
		return nil, fmt.Errorf("external_auth: file: there is no ^filetype %q", kind)
	}
	f, err := os.Open(a.conf.Str("^filename"))
	if err != nil {
		return nil, fmt.Errorf("external_auth: file: ^filename: %w", err)
	}
	defer f.Close()
	found, err := check(a, io.LimitReader(f, maxPasswordFile))
	if err != nil {
		return nil, fmt.Errorf("external_auth: file: %w", err)
	}
	return admitIf(found), nil
}

var errShortLine = errors.New("a line lacks a field")

// inText reads fields: ^field_separator, ^username_field and ^password_field, counted from 1, and ^hashtype.
func inText(a *attempt, r io.Reader) (bool, error) {
	sep := a.setting("field_separator", ":")
	userAt, passAt := fieldNumber(a.conf, "^username_field", 1)-1, fieldNumber(a.conf, "^password_field", 2)-1
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		cells := strings.Split(strings.TrimSpace(lines.Text()), sep)
		if userAt < 0 || passAt < 0 || userAt >= len(cells) || passAt >= len(cells) {
			return false, errShortLine
		}
		if cells[userAt] == a.user {
			return samePassword(a.setting("hashtype", "plaintext"), cells[passAt], a.password)
		}
	}
	return false, lines.Err()
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

// digest is the hash of a text password file; Salt has md5, sha256 and sha512.
func digest(name string) func() hash.Hash {
	return map[string]func() hash.Hash{
		"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384,
		"sha512": sha512.New,
	}[name]
}

func samePassword(hashType, stored, given string) (bool, error) {
	if hashType != "plaintext" {
		kind := digest(hashType)
		if kind == nil {
			return false, fmt.Errorf("there is no ^hashtype %q", hashType)
		}
		h := kind()
		_, _ = io.WriteString(h, given) // a hash takes everything
		given = hex.EncodeToString(h.Sum(nil))
	}
	return same(stored, given), nil
}

// inHtpasswd reads lines "user:hash".
func inHtpasswd(a *attempt, r io.Reader) (bool, error) {
	cells, err := apacheLine(r, 2, a.user)
	if err != nil || cells == nil {
		return false, err
	}
	return verify(cells[1], a.password)
}

// inHtdigest reads lines "user:realm:MD5 of user:realm:password". Salt demands ^realm.
func inHtdigest(a *attempt, r io.Reader) (bool, error) {
	realm := a.setting("realm", "")
	if realm == "" {
		return false, errors.New("^filetype htdigest needs ^realm")
	}
	cells, err := apacheLine(r, 3, a.user, realm)
	if err != nil || cells == nil {
		return false, err
	}
	sum := md5.Sum([]byte(a.user + ":" + realm + ":" + a.password))
	return same(cells[2], hex.EncodeToString(sum[:])), nil
}

// apacheLine finds the first line that begins with the wanted cells, nil if there is none. Empty lines and comments
// count for nothing; any other that does not have n cells makes the file malformed.
func apacheLine(r io.Reader, n int, want ...string) (found []string, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), " \t\r\n\v\f")
		if line == "" || strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			continue
		}
		cells := strings.Split(line, ":")
		if len(cells) != n {
			return nil, errShortLine
		}
		if found == nil && equalStart(cells, want) {
			found = cells
		}
	}
	return found, lines.Err()
}

func equalStart(cells, want []string) bool {
	for i, w := range want {
		if cells[i] != w {
			return false
		}
	}
	return true
}
