// Package key is the execution module key: the fingerprints of the keys that a minion keeps. It answers to
// salt/modules/key.py.
package key

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"brine/modules/fleet/keys"
	"brine/modules/loader"
)

// Module is the module key.
func Module() loader.Module {
	return loader.Module{File: "key", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("finger", fingerOf("minion.pub"), "The fingerprint of the minion's public key.", "key.finger"),
			loader.Fn("finger_master", fingerOf("minion_master.pub"),
				"The fingerprint of the master's public key as the minion trusts it.", "key.finger_master"),
		}
	}}
}

type hashed struct {
	Kind any `arg:"hash_type=None"`
}

// fingerOf is a function that answers with the fingerprint of a file in pki_dir; "" when there is none.
func fingerOf(name string) func(*loader.Call, hashed) (any, error) {
	return func(c *loader.Call, a hashed) (any, error) {
		kind := a.Kind
		if kind == nil {
			kind = c.Opts().Value("hash_type")
		}
		text, err := os.ReadFile(filepath.Join(c.Opts().Str("pki_dir"), name))
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return nil, fmt.Errorf("read key: %w", err)
		}
		finger, err := keys.Fingerprint(string(text), loader.Text(kind))
		if err != nil {
			return nil, loader.Raise("AttributeError", "module 'hashlib' has no attribute '%s'", loader.Text(kind))
		}
		return finger, nil
	}
}
