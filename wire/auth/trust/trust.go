// Package trust keeps, in a minion's pki directory, what the minion knows of its master: the key it has come
// to trust and the key that vouches for new ones. It decides nothing (see wire/auth, whose TrustStore it is).
// Answers to the files that salt/crypt.py (AsyncAuth) reads and writes.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"brine/modules/host/wholefile"
)

// Names of the file of the trusted master's key.
const (
	MinionFile = "minion_master.pub"
	SyndicFile = "syndic_master.pub"
)

const keyMode fs.FileMode = 0o644

// Dir is a pki directory. The zero File is MinionFile.
type Dir struct {
	Path    string // [pki_dir]
	File    string // of the trusted key
	SignKey string // [master_sign_key_name] without ".pub"; "": there is no signing key
}

func (d Dir) masterPath() string {
	if d.File == "" {
		return filepath.Join(d.Path, MinionFile)
	}
	return filepath.Join(d.Path, d.File)
}

// MasterKey returns the text of the trusted key, "" when there is none.
func (d Dir) MasterKey() (string, error) { return read(d.masterPath()) }

// SigningKey returns the text of the key that vouches for master keys, "" when there is none.
func (d Dir) SigningKey() (string, error) {
	if d.SignKey == "" {
		return "", nil
	}
	return read(filepath.Join(d.Path, d.SignKey+".pub"))
}

func read(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	return string(text), nil
}

// SetMasterKey stores pub as the trusted key, whole or not at all. A symbolic link in its place is followed.
func (d Dir) SetMasterKey(pub string) error {
	if err := wholefile.Write(d.masterPath(), []byte(pub), wholefile.Options{Mode: keyMode, Sync: true, Follow: true}); err != nil {
		return fmt.Errorf("store master key: %w", err)
	}
	return nil
}
