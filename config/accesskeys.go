package config

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
	"brine/wire/python/fnmatch"
	"brine/wire/python/re"
)

// AccessKeys makes sure that every user who may talk to this master from this host has a key file
// cachedir/.USER_key, and returns the keys by user. A usable file of an earlier run is kept, as Salt 3008 does, so
// that running tools stay valid; a new one holds newKey() and belongs to the user alone. told hears of a file that is
// damaged, which a new one replaces.
//
// Users are the one the master runs as, the configured one and the names in publisher_acl; with
// client_acl_verify names unknown to the system are left out and each name is also tried as a pattern on all
// users of the system.
func (m *Master) AccessKeys(newKey func() string, told func(setaside.Damage)) (map[string]string, error) {
	if m.PublisherACL.Len() > 0 || m.ExternalAuth.Len() > 0 {
		letThrough(m.CacheDir)
	}
	return AccessKeys(m.CacheDir, m.AccessUsers(), newKey, told)
}

// AccessUsers are the users who may talk to this master from this host; see AccessKeys.
func (m *Master) AccessUsers() []string {
	names := []string{m.User, currentUser()}
	for name := range m.PublisherACL.All() {
		if s, ok := name.(string); ok {
			names = append(names, s)
		}
	}
	if m.ClientACLVerify {
		names = systemUsers(names)
	}
	return names
}

// AccessKeys makes sure that each of users has a key file in dir; see Master.AccessKeys.
func AccessKeys(dir string, users []string, newKey func() string, told func(setaside.Damage)) (map[string]string,
	error) {
	keys := make(map[string]string, len(users))
	for _, name := range users {
		if _, done := keys[name]; done || name == "" || strings.ContainsAny(name, "/\x00") {
			continue
		}
		file := filepath.Join(dir, "."+name+"_key")
		key, err := readAccessKey(file)
		if errors.Is(err, errKeyDamaged) {
			kept, moveErr := setaside.Move(file, time.Now())
			told(setaside.Damage{Path: file, Kept: kept, Err: errors.Join(fmt.Errorf("%w; user %s gets another one",
				err, name), moveErr)})
			err = errNoKey
		}
		if errors.Is(err, errNoKey) {
			key = newKey()
			err = writeAccessKey(file, name, key)
		}
		if err != nil {
			return nil, fmt.Errorf("access key of user %s: %w", name, err)
		}
		keys[name] = key
	}
	return keys, nil
}

// errNoKey means that there is no usable key in a file.
var errNoKey = errors.New("no usable key")

// errKeyDamaged means that a file holds something else than a key.
var errKeyDamaged = errors.New("the file is damaged: it holds no access key")

// leastAccessKey is how many bytes a key has at least.
const leastAccessKey = 32

// readAccessKey reads a key file. One that is no plain file, or may be read by others, is not usable.
func readAccessKey(file string) (string, error) {
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errNoKey
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0:
		return "", errNoKey
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(b))); err != nil ||
		len(raw) < leastAccessKey {
		return "", errKeyDamaged
	}
	return string(b), nil
}

// writeAccessKey replaces a key file as a whole: nobody ever sees half a key.
func writeAccessKey(file, name, key string) error {
	var how wholefile.Options
	if u, err := user.Lookup(name); err == nil {
		if uid, err := strconv.Atoi(u.Uid); err == nil && uid != os.Getuid() {
			how.UID = &uid
		}
	}
	return wholefile.Write(file, []byte(key), how)
}

// letThrough lets other users reach files in a directory whose names they know.
func letThrough(dir string) {
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o001 == 0 {
		_ = setMode(dir, info.Mode().Perm()|0o001) // without it those users get Salt's own message about the key
	}
}

// systemUsers replaces names by the users of the system that they name or match.
func systemUsers(names []string) []string {
	var out []string
	for _, name := range names {
		if _, err := user.Lookup(name); err == nil && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	f, err := os.Open("/etc/passwd")
	if err != nil {
		return out
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, _, _ := strings.Cut(lines.Text(), ":")
		if name != "" && !slices.Contains(out, name) && slices.ContainsFunc(names, func(p string) bool {
			return userMatches(p, name)
		}) {
			out = append(out, name)
		}
	}
	return out
}

// userMatches tries a pattern as a shell glob, then as a regular expression for the whole name.
func userMatches(pattern, name string) bool {
	if fnmatch.Match(pattern, name) {
		return true
	}
	p, err := re.CompileWhole(pattern)
	if err != nil {
		return false
	}
	ok, err := p.Match(name)
	return ok && err == nil
}
