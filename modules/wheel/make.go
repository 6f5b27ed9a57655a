package wheel

import (
	"brine/modules/fleet/keys"
	"brine/modules/loader"
	"brine/wire/payload"
)

// makeFuncs make keys and signatures.
func (w *wheel) makeFuncs() []loader.Func {
	size := loader.Opt("keysize", nil)
	return []loader.Func{
		{Name: "key.gen", Source: sourceKey, Run: w.withKeys(gen),
			Params: []loader.Param{loader.Opt("id_", nil), loader.Opt("keysize", int64(2048))},
			Doc:    "Make a key pair and store nothing."},
		{Name: "key.gen_accept", Source: sourceKey, Run: w.withKeys(genAccept),
			Params: []loader.Param{loader.Req("id_"), loader.Opt("keysize", int64(2048)), loader.Opt("force", false)},
			Doc:    "Make a key pair for a minion and accept its public key."},
		{Name: "key.gen_keys", Source: sourceKey, Run: w.withKeys(genKeys),
			Params: []loader.Param{loader.Opt("keydir", nil), loader.Opt("keyname", nil), size, loader.Opt("user", nil)},
			Doc:    "Make a key pair as files and show the fingerprint."},
		{Name: "key.gen_signature", Source: sourceKey, Run: w.withKeys(genSignature),
			Params: []loader.Param{loader.Req("priv"), loader.Req("pub"), loader.Req("signature_path"),
				loader.Opt("auto_create", false), size},
			Doc: "Sign the master's public key into the file master_use_pubkey_signature sends."},
	}
}

func pairMap(p keys.Pair) *payload.Map { return payload.M("priv", p.Private, "pub", p.Public) }

// keySize reads the argument keysize; nil is the option.
func keySize(a loader.Args) (int, error) {
	if a.Get("keysize") == nil {
		return 0, nil
	}
	n, err := a.Int("keysize")
	return int(n), err
}

func gen(m *keys.Manager, _ *loader.Call, a loader.Args) (any, error) {
	size, err := keySize(a)
	if err != nil {
		return nil, err
	}
	pair, err := m.Generate(size)
	if err != nil {
		return nil, err
	}
	return pairMap(pair), nil
}

func genAccept(m *keys.Manager, _ *loader.Call, a loader.Args) (any, error) {
	size, err := keySize(a)
	if err != nil {
		return nil, err
	}
	pair, made, err := m.GenerateAccepted(a.Str("id_"), size, a.Bool("force"))
	if err != nil || !made {
		return payload.NewMap(0), err
	}
	return pairMap(pair), nil
}

// inside refuses paths outside the master's key directory. Unlike Salt: a wheel function there reads and writes wherever
// the master's user can; salt-key, which its own user calls, still does.
func inside(m *keys.Manager, paths ...string) error {
	for _, p := range paths {
		if err := m.Inside(p); err != nil {
			return loader.InvocErr("%s", err)
		}
	}
	return nil
}

func genKeys(m *keys.Manager, _ *loader.Call, a loader.Args) (any, error) {
	size, err := keySize(a)
	if err != nil {
		return nil, err
	}
	if err := inside(m, a.Str("keydir")); err != nil {
		return nil, err
	}
	finger, err := m.GenerateFiles(a.Str("keydir"), a.Str("keyname"), size)
	if err != nil {
		return nil, err
	}
	return finger, nil
}

func genSignature(m *keys.Manager, _ *loader.Call, a loader.Args) (any, error) {
	size, err := keySize(a)
	if err != nil {
		return nil, err
	}
	if err := inside(m, a.Str("priv"), a.Str("pub"), a.Str("signature_path")); err != nil {
		return nil, err
	}
	return m.Sign(keys.Signature{PrivatePath: a.Str("priv"), PublicPath: a.Str("pub"),
		Dir: a.Str("signature_path"), AutoCreate: a.Bool("auto_create"), KeySize: size})
}
