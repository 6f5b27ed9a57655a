// Package jobfiles names the small files of jobs and writes them whole: job ids come from outside and may be anything.
// It keeps no state and asks nobody.
package jobfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
)

// maxName bounds file names made of names from outside, in bytes.
const maxName = 128

// Name makes a jid a file name and an actor name; jids come from outside. A usual one is its own name, of others
// the name carries a hash, so that two never have the same.
func Name(jid string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.'
	}
	odd := func(r rune) bool { return !plain(r) }
	if !strings.ContainsFunc(jid, odd) && strings.Trim(jid, ".") != "" && len(jid) <= maxName {
		return jid
	}
	name := strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '_'
	}, jid)
	sum := sha256.Sum256([]byte(jid))
	return "_" + name[:min(len(name), maxName)] + "-" + hex.EncodeToString(sum[:8])
}

// TempSuffix marks a file that is being written.
const TempSuffix = wholefile.TempSuffix

// Write writes a file whole, for its owner; the directory is made where it is missing. The file is safe against the
// death of this process, not against that of the host.
func Write(path string, b []byte) error {
	how := wholefile.Options{Umask: true, Sole: true}
	err := wholefile.Write(path, b, how)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = wholefile.Write(path, b, how)
		}
	}
	return err
}

// TellDamage says which file is damaged, where it was put, and what is lost.
func TellDamage(log *slog.Logger) func(setaside.Damage) {
	return func(d setaside.Damage) { log.Error(setaside.Text, d.Attrs()...) }
}

func Remove(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
