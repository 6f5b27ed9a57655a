package keys

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Modes of the key files salt-key makes.
const (
	privateMode = 0o400
	publicMode  = 0o644
)

// minKeySize is the smallest RSA key made; smaller wishes are raised to it (salt/wheel/key.py, gen).
const minKeySize = 2048

// maxKeySize is the largest one: RSA keys of more bits take minutes to make, and no end of memory.
const maxKeySize = 16384

// ErrOutside means a file or folder outside the key directory of the master.
var ErrOutside = errors.New("keys: outside pki_dir")

// Inside tells whether a path is the master's key directory or below it, and not below a folder of minions' keys: in
// these a file is a decision about a minion. "" is the directory.
func (m *Manager) Inside(path string) error {
	if path == "" {
		return nil
	}
	rel, err := filepath.Rel(m.Store.opt.MasterDir, path)
	if err != nil || !filepath.IsLocal(rel) || strings.Contains(path, "\x00") {
		return fmt.Errorf("%w: %q", ErrOutside, path)
	}
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	if slices.Contains(order[:], Status(first)) || first == autosignDir {
		return fmt.Errorf("%w: %q is a folder of minions' keys", ErrOutside, path)
	}
	return nil
}

var errNoGenerator = errors.New("keys: this process cannot make keys")

// Pair is a key pair as PEM texts.
type Pair struct{ Private, Public string }

// Generate makes a pair and stores nothing. size 0 is the option keysize.
func (m *Manager) Generate(size int) (Pair, error) {
	if m.opt.Generate == nil {
		return Pair{}, errNoGenerator
	}
	if size == 0 {
		size = m.opt.KeySize
	}
	if size > maxKeySize {
		return Pair{}, fmt.Errorf("keys: a key of %d bits is too large, %d are the most", size, maxKeySize)
	}
	priv, pub, err := m.opt.Generate(max(size, minKeySize))
	if err != nil {
		return Pair{}, fmt.Errorf("make a key of %d bits: %w", size, err)
	}
	return Pair{Private: priv, Public: pub}, nil
}

// GenerateAccepted makes a pair for id and accepts its public key. ok is false, and nothing changed, when id has
// a key already and force is not given.
func (m *Manager) GenerateAccepted(id string, size int, force bool) (pair Pair, ok bool, err error) {
	st, _, err := m.Get(id)
	if err != nil || st != "" && !force {
		return Pair{}, false, err
	}
	if pair, err = m.Generate(size); err != nil {
		return Pair{}, false, err
	}
	return pair, true, m.replace(Accepted, id, pair.Public)
}

// GenerateFiles makes dir/name.pem and dir/name.pub unless they are there, and returns the fingerprint of the
// public key. dir "" is pki_dir, name "" is "minion".
func (m *Manager) GenerateFiles(dir, name string, size int) (string, error) {
	if dir == "" {
		dir = m.Store.opt.MasterDir
	}
	if name == "" {
		name = "minion"
	}
	if err := checkID(name); err != nil {
		return "", err
	}
	pub := filepath.Join(dir, name+".pub")
	if text, err := os.ReadFile(pub); err == nil && isFile(filepath.Join(dir, name+".pem")) {
		return Fingerprint(string(text), m.opt.HashType)
	}
	pair, err := m.writePair(dir, name, size)
	if err != nil {
		return "", err
	}
	return Fingerprint(pair.Public, m.opt.HashType)
}

func (m *Manager) writePair(dir, name string, size int) (Pair, error) {
	pair, err := m.Generate(size)
	if err != nil {
		return Pair{}, err
	}
	err = os.MkdirAll(dir, dirMode)
	if err == nil {
		err = replaceFile(filepath.Join(dir, name+".pem"), []byte(pair.Private), privateMode, m.Store.opt.UID, true)
	}
	if err == nil {
		err = replaceFile(filepath.Join(dir, name+".pub"), []byte(pair.Public), publicMode, m.Store.opt.UID, true)
	}
	if err != nil {
		return Pair{}, fmt.Errorf("write key pair %s: %w", name, err)
	}
	return pair, nil
}

// Signature says what salt-key --gen-signature works on. Empty paths are the files of pki_dir.
type Signature struct {
	PrivatePath string
	PublicPath  string
	Dir         string // folder of the signature file
	AutoCreate  bool   // make a signing pair when there is none
	KeySize     int
}

// Sign writes the signature over the master's public key that master_use_pubkey_signature sends. The answer is
// Salt's: true when it was made, false when there is one already, or a sentence about a missing file.
func (m *Manager) Sign(s Signature) (any, error) {
	if m.opt.Sign == nil {
		return nil, errNoGenerator
	}
	pubPath, text := pick(s.PublicPath, filepath.Join(m.Store.opt.MasterDir, "master.pub"), "Public-key")
	if text != "" {
		return text, nil
	}
	signName := m.opt.SignKeyName
	if signName == "" {
		signName = "master_sign"
	}
	privPath, text := pick(s.PrivatePath, filepath.Join(m.Store.opt.MasterDir, signName+".pem"), "Private-key")
	if text != "" {
		return text, nil
	}
	priv, text, err := m.signingKey(privPath, signName, s)
	if err != nil || text != "" {
		return text, err
	}
	if pubPath == "" {
		return "No usable public-key found", nil
	}
	return m.writeSignature(priv, pubPath, s.Dir)
}

// pick returns the file asked for, or the usual one when it exists, or "". A file asked for that is missing
// gives Salt's sentence.
func pick(asked, usual, what string) (path, text string) {
	switch {
	case asked != "" && !isFile(asked):
		return "", fmt.Sprintf("%s %s does not exist", what, asked)
	case asked != "":
		return asked, ""
	case isFile(usual):
		return usual, ""
	}
	return "", ""
}

func (m *Manager) signingKey(path, name string, s Signature) (priv, text string, err error) {
	if path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return "", "", fmt.Errorf("read signing key: %w", err)
		}
		return string(pem), "", nil
	}
	if !s.AutoCreate {
		return "", "No usable private-key found", nil
	}
	pair, err := m.writePair(m.Store.opt.MasterDir, name, s.KeySize)
	return pair.Private, "", err
}

func (m *Manager) writeSignature(priv, pubPath, dir string) (any, error) {
	if dir == "" {
		dir = m.Store.opt.MasterDir
	}
	path := filepath.Join(dir, m.signatureName())
	if isFile(path) {
		return false, nil
	}
	pub, err := os.ReadFile(pubPath)
	if err != nil {
		return nil, fmt.Errorf("read public key: %w", err)
	}
	sig, err := m.opt.Sign(priv, []byte(strings.TrimSpace(unixLines(string(pub)))))
	if err != nil {
		return nil, fmt.Errorf("sign the master's public key: %w", err)
	}
	text := base64.StdEncoding.EncodeToString(sig) + "\n"
	if err := replaceFile(path, []byte(text), privateMode, m.Store.opt.UID, true); err != nil {
		return nil, fmt.Errorf("write the key signature: %w", err)
	}
	return true, nil
}

func (m *Manager) signatureName() string {
	if m.opt.PublicSignature != "" {
		return m.opt.PublicSignature
	}
	return "master_pubkey_signature"
}

// MasterPub is the master's public key and the name of its file: <id>.pub of 3008, else master.pub.
func (m *Manager) MasterPub() (name, pem string, err error) {
	name = strings.TrimSuffix(m.opt.MasterID, "_master") + ".pub"
	if !ValidID(name) || !isFile(filepath.Join(m.Store.opt.MasterDir, name)) {
		name = "master.pub"
	}
	text, err := os.ReadFile(filepath.Join(m.Store.opt.MasterDir, name))
	if err != nil {
		return "", "", fmt.Errorf("read the master's public key: %w", err)
	}
	return name, strings.TrimSpace(unixLines(string(text))), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
