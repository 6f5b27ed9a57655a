// Package ssh is the execution module ssh: the keys that let others log in as a user of this host (authorized_keys),
// the keys by which users know other hosts (known_hosts), and the keys of this host. Files of users are read and
// written without following a link of a user to what is not that user's; whole, and with the owner that they have or,
// when they are new, with the user as owner. It answers to salt/modules/ssh.py.
package ssh

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is ssh, where there is a client of it.
func Module() loader.Module {
	return loader.Module{File: "ssh", Virtual: virtual, Funcs: func() []loader.Func {
		return slices.Concat(authorized(), known(), own())
	}}
}

func virtual(loader.Place) (bool, string) {
	if program.Which("ssh") == "" {
		return false, "The module requires the ssh binary."
	}
	return true, ""
}

// attempts is how often ssh-keyscan is run until it says anything.
const attempts = 5

type asked struct {
	Host     string `arg:"hostname"`
	Enc      any    `arg:"enc=None"`
	Port     any    `arg:"port=None"`
	Hashed   bool   `arg:"hash_known_hosts=True"`
	Timeout  string `arg:"timeout=5"`
	HashType any    `arg:"fingerprint_hash_type=None"`
}

func receive(c *loader.Call, a asked) (any, error) {
	if err := cmdmod.Operand(a.Host); err != nil { // unlike Salt, where -f/FILE reads a file
		return nil, err
	}
	path, _ := environ.Of(c.Ctx).Get("PATH")
	if program.WhichOn(path, "ssh-keyscan") == "" {
		return nil, &loader.CommandNotFoundError{Message: "The 'ssh-keyscan' binary was not found in $PATH."}
	}
	text := ""
	for range attempts {
		var err error
		text, err = cmdmod.Run(c, command(c, a), payload.M("output_loglevel", "debug"))
		if err != nil {
			return nil, err
		}
		if text != "" {
			break
		}
	}
	return entries(text, a.HashType)
}

// command is the command line of ssh-keyscan. That of CentOS 5 wants a type of key.
func command(c *loader.Call, a asked) []string {
	argv := []string{"ssh-keyscan"}
	if python.Truth(a.Port) {
		argv = append(argv, "-p", loader.Text(a.Port))
	}
	if python.Truth(a.Enc) {
		argv = append(argv, "-t", loader.Text(a.Enc))
	} else if finger, _ := c.Grain("osfinger"); finger == "CentOS-5" {
		argv = append(argv, "-t", "rsa")
	}
	if a.Hashed {
		argv = append(argv, "-H")
	}
	return append(argv, "-T", a.Timeout, a.Host)
}

// entries reads lines "host type key". Others, and keys that are none, are passed over.
func entries(text string, hashType any) (any, error) {
	out, err := rowsOf(text, hashType)
	if out == nil {
		return nil, err
	}
	return payload.AnyList(out), err
}

// rowsOf are the entries as maps; nil: there are none.
func rowsOf(text string, hashType any) (out []*payload.Map, err error) {
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(line)
		if len(words) != 3 || strings.HasPrefix(words[0], "#") {
			continue
		}
		mark, err := fingerprint(words[2], hashType)
		if err != nil {
			return nil, err
		}
		if mark != "" {
			out = append(out, payload.M("hostname", words[0], "key", words[2], "enc", words[1], "fingerprint", mark))
		}
	}
	return out, nil
}

// sums are the hashes of a fingerprint by name. Unlike Salt: the others of Python's hashlib are not there.
func sums(name string) (hash.Hash, bool) {
	switch name {
	case "md5":
		return md5.New(), true
	case "sha1":
		return sha1.New(), true
	case "sha224":
		return sha256.New224(), true
	case "sha256":
		return sha256.New(), true
	case "sha384":
		return sha512.New384(), true
	case "sha512":
		return sha512.New(), true
	}
	return nil, false
}

// fingerprint is the hash of a key in base64, in the form xx:xx:xx; "" for what is not base64.
func fingerprint(key string, hashType any) (string, error) {
	name := "sha256"
	if python.Truth(hashType) {
		name = strings.ToLower(loader.Text(hashType))
	}
	sum, known := sums(name)
	if !known {
		return "", loader.ExecErr("The fingerprint_hash_type %s is not supported.", name)
	}
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return "", nil // the caller passes the line over
	}
	sum.Write(raw)
	digits := hex.EncodeToString(sum.Sum(nil))
	var out strings.Builder
	for i := 0; i < len(digits); i += 2 {
		if i > 0 {
			out.WriteByte(':')
		}
		out.WriteString(digits[i : i+2])
	}
	return out.String(), nil
}
