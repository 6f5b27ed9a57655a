package execution

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"brine/modules/fleet/keys"
	"brine/modules/loader"
)

func keyFunctions() []loader.Func {
	params := []loader.Param{loader.Opt("hash_type", nil)}
	return sourced("salt/modules/key.py", []loader.Func{
		{Name: "key.finger", Params: params, Run: fingerOf("minion.pub"), Doc: `The fingerprint of the minion's public key.

CLI Example:

    salt '*' key.finger`},
		{Name: "key.finger_master", Params: params, Run: fingerOf("minion_master.pub"), Doc: `The fingerprint of the master's public key as the minion trusts it.

CLI Example:

    salt '*' key.finger_master`},
	})
}

// fingerOf is a function that answers with the fingerprint of a file in pki_dir; "" when there is none.
func fingerOf(name string) func(*loader.Call, loader.Args) (any, error) {
	return func(c *loader.Call, a loader.Args) (any, error) {
		kind := a.Get("hash_type")
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
