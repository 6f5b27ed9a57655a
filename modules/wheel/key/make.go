package key

import (
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/wire/payload"
)

// makes are the functions that make keys and signatures.
func (k *master) makes() []loader.Func {
	return []loader.Func{
		fn(k, "gen", gen, "Make a key pair and store nothing."),
		fn(k, "gen_accept", genAccept, "Make a key pair for a minion and accept its public key."),
		fn(k, "gen_keys", genKeys, "Make a key pair as files and show the fingerprint."),
		fn(k, "gen_signature", genSignature,
			"Sign the master's public key into the file master_use_pubkey_signature sends."),
	}
}

func pairMap(p keys.Pair) *payload.Map { return payload.M("priv", p.Private, "pub", p.Public) }

// keySize reads the argument keysize; nil is the option.
func keySize(v any) (int, error) {
	if v == nil {
		return 0, nil
	}
	n, err := loader.ToInt(v)
	return int(n), err
}

type pairArgs struct {
	ID   any `arg:"id_=None"` // names nothing that stays
	Size any `arg:"keysize=2048"`
}

func gen(m *keys.Manager, _ *loader.Call, a pairArgs) (*payload.Map, error) {
	size, err := keySize(a.Size)
	if err != nil {
		return nil, err
	}
	pair, err := m.Generate(size)
	if err != nil {
		return nil, err
	}
	return pairMap(pair), nil
}

type acceptedPair struct {
	ID    string `arg:"id_"`
	Size  any    `arg:"keysize=2048"`
	Force bool   `arg:"force=False"`
}

func genAccept(m *keys.Manager, _ *loader.Call, a acceptedPair) (*payload.Map, error) {
	size, err := keySize(a.Size)
	if err != nil {
		return nil, err
	}
	pair, made, err := m.GenerateAccepted(a.ID, size, a.Force)
	if err != nil || !made {
		return payload.NewMap(0), err
	}
	return pairMap(pair), nil
}

// inside refuses paths outside the master's key directory. Unlike Salt: a wheel function there reads and writes
// wherever the master's user can; salt-key, which its own user calls, still does.
func inside(m *keys.Manager, paths ...string) error {
	for _, p := range paths {
		if err := m.Inside(p); err != nil {
			return loader.InvocErr("%s", err)
		}
	}
	return nil
}

type pairFiles struct {
	Dir  string `arg:"keydir=None"`
	Name string `arg:"keyname=None"`
	Size any    `arg:"keysize=None"`
	User any    `arg:"user=None"`
}

func genKeys(m *keys.Manager, _ *loader.Call, a pairFiles) (string, error) {
	size, err := keySize(a.Size)
	if err != nil {
		return "", err
	}
	if err := inside(m, a.Dir); err != nil {
		return "", err
	}
	return m.GenerateFiles(a.Dir, a.Name, size)
}

type signature struct {
	Private string `arg:"priv"`
	Public  string `arg:"pub"`
	Dir     string `arg:"signature_path"`
	Create  bool   `arg:"auto_create=False"`
	Size    any    `arg:"keysize=None"`
}

func genSignature(m *keys.Manager, _ *loader.Call, a signature) (any, error) {
	size, err := keySize(a.Size)
	if err != nil {
		return nil, err
	}
	if err := inside(m, a.Private, a.Public, a.Dir); err != nil {
		return nil, err
	}
	return m.Sign(keys.Signature{PrivatePath: a.Private, PublicPath: a.Public, Dir: a.Dir, AutoCreate: a.Create,
		KeySize: size})
}
