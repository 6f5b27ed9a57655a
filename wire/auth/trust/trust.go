// Package trust keeps, in a minion's pki directory, the keys by which the minion knows its master: the trusted key, and
// the key that vouches for new ones. It decides nothing (see wire/auth, whose TrustStore it is). Answers to the files
// that salt/crypt.py (AsyncAuth) reads and writes.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"brine/wire/crypt"
	"brine/wire/disk/wholefile"

	"golang.org/x/sys/unix"
)

// Names of the file with the trusted master's key.
const (
	MinionFile = "minion_master.pub"
	SyndicFile = "syndic_master.pub"
)

const keyMode fs.FileMode = 0o644

// Dir is a pki directory. The zero File is MinionFile.
type Dir struct {
	Path    string // [pki_dir]
	File    string // of the trusted key
	SignKey string // [master_sign_key_name] without ".pub"; "": no signing key
}

func (d Dir) masterPath() string {
	if d.File == "" {
		return filepath.Join(d.Path, MinionFile)
	}
	return filepath.Join(d.Path, d.File)
}

// MasterKey returns the text of the trusted key, or "" if there is none. A file without a key is an error: a minion
// that has trusted a master must not trust another one because its disk is damaged.
func (d Dir) MasterKey() (string, error) {
	text, there, err := read(d.masterPath())
	if err != nil || !there {
		return "", err
	}
	if _, err := crypt.ParsePublicKey([]byte(text)); err != nil {
		return "", fmt.Errorf("the file %s is damaged: %w; put the key of the master back, or remove the file to "+
			"trust the next master that answers", d.masterPath(), err)
	}
	return text, nil
}

// SigningKey returns the text of the key that vouches for master keys, or "" if there is none.
func (d Dir) SigningKey() (string, error) {
	if d.SignKey == "" {
		return "", nil
	}
	text, _, err := read(filepath.Join(d.Path, d.SignKey+".pub"))
	return text, err
}

func read(path string) (text string, there bool, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read key: %w", err)
	}
	return string(b), true, nil
}

// TakeMasterKey stores pub as the trusted key if there is none, and returns the trusted key. It locks the directory
// meanwhile. On a file system without locks, it does not replace a file that another process has made.
func (d Dir) TakeMasterKey(pub string) (trusted string, err error) {
	dir, err := os.Open(d.Path)
	if err != nil {
		return "", fmt.Errorf("store master key: %w", err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	_ = unix.Flock(int(dir.Fd()), unix.LOCK_EX) // the lock ends with the descriptor
	if trusted, err = d.MasterKey(); err != nil || trusted != "" {
		return trusted, err
	}
	if _, err := os.Lstat(d.masterPath()); err == nil { // a dangling link
		return pub, d.SetMasterKey(pub)
	}
	err = wholefile.Write(d.masterPath(), []byte(pub), wholefile.Options{Mode: keyMode, Sync: true, New: true})
	switch {
	case errors.Is(err, fs.ErrExist):
		return d.MasterKey()
	case err != nil:
		return "", fmt.Errorf("store master key: %w", err)
	}
	return pub, nil
}

// SetMasterKey stores pub as the trusted key, whole or not at all. It follows a symbolic link in its place.
func (d Dir) SetMasterKey(pub string) error {
	if err := wholefile.Write(d.masterPath(), []byte(pub), wholefile.Options{Mode: keyMode, Sync: true,
		Follow: true}); err != nil {
		return fmt.Errorf("store master key: %w", err)
	}
	return nil
}
