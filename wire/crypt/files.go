package crypt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brine/wire/disk/wholefile"
)

// Modes of key files, as in Salt.
const (
	privateMode fs.FileMode = 0o400
	publicMode  fs.FileMode = 0o644
)

// LoadOrGenerate reads dir/name.pem. If there is none, it makes a key and writes name.pem (0400) and name.pub. It
// follows symbolic links and never replaces an existing file: a dangling link is an error. It writes a missing name.pub
// again. The directory must exist. Source: salt/crypt.py, gen_keys and AsyncAuth.get_keys.
func LoadOrGenerate(dir, name string, bits int, passphrase string) (*PrivateKey, error) {
	key, err := load(dir, name, passphrase)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = generate(dir, name, bits, passphrase)
	}
	if err != nil {
		return nil, err
	}
	return key, writePublic(dir, name, key)
}

// LoadMaster reads or makes the key pair of a master. Salt 3008 keeps it as <n>.pem and <n>.pub, where n is the id
// without "_master", and leaves absolute links under the old names. Every other release keeps master.pem and
// master.pub. LoadMaster uses the files that exist, through links. A new pair gets the old names, which all releases
// read. Source: salt/crypt.py, MasterKeys.
func LoadMaster(dir, id string, bits int, passphrase string) (*PrivateKey, error) {
	name := strings.TrimSuffix(id, "_master")
	if name != "" && !strings.ContainsAny(name, "/\\\x00") {
		key, err := load(dir, name, passphrase)
		if !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
	}
	return LoadOrGenerate(dir, "master", bits, passphrase)
}

func load(dir, name, passphrase string) (*PrivateKey, error) {
	path := filepath.Join(dir, name+".pem")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read private key: %w", err)
	}
	key, err := ParsePrivateKey(text, passphrase)
	clear(text)
	if err != nil {
		return nil, fmt.Errorf("read private key %s: %w", path, err)
	}
	return key, nil
}

func generate(dir, name string, bits int, passphrase string) (*PrivateKey, error) {
	key, err := GenerateKey(bits)
	if err != nil {
		return nil, err
	}
	text, err := key.MarshalPEM(passphrase)
	if err != nil {
		return nil, err
	}
	if err := createFile(filepath.Join(dir, name+".pem"), text, privateMode); err != nil {
		return nil, fmt.Errorf("write private key: %w", err)
	}
	return key, nil
}

func writePublic(dir, name string, key *PrivateKey) error {
	path := filepath.Join(dir, name+".pub")
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	err := createFile(path, []byte(key.Public().PEM()+"\n"), publicMode)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write public key: %w", err)
	}
	return nil
}

// createFile makes a file that appears whole or not at all. It fails with fs.ErrExist if the name is taken, even by a
// dangling link.
func createFile(path string, text []byte, mode fs.FileMode) error {
	return wholefile.Write(path, text, wholefile.Options{Mode: mode, Sync: true, New: true})
}
