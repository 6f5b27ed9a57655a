package x509_v2

import (
	"crypto"
	"errors"

	"brine/modules/execution/x509_v2"
	"brine/modules/host/pki"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type privateKeyArgs struct {
	Name       string       `arg:"name"`
	Algo       string       `arg:"algo=rsa"`
	Size       any          `arg:"keysize=None"`
	Passphrase any          `arg:"passphrase=None"`
	Encoding   string       `arg:"encoding=pem"`
	New        bool         `arg:"new=False"`
	Overwrite  bool         `arg:"overwrite=False"`
	Compat     bool         `arg:"pkcs12_encryption_compat=False"`
	KW         *payload.Map `arg:"**kwargs"`
}

// secret is the passphrase; nil: none.
func (a privateKeyArgs) secret() *string {
	if a.Passphrase == nil {
		return nil
	}
	text := python.Str(a.Passphrase)
	return &text
}

func privateKey(c *states.Call, a privateKeyArgs) (states.Plan, error) {
	file, others := splitArgs(a.KW)
	if v, ok := others.Get("bits"); ok {
		a.Size = v
	}
	for _, old := range []string{"bits", "cipher", "verbose", "text"} {
		others.Delete(old)
	}
	if err := noOthers(others); err != nil {
		return states.Plan{}, err
	}
	if !python.Truth(file.Value("mode")) {
		file.Set("mode", "0400")
	}
	if python.Truth(a.Size) && (a.Algo == "ed25519" || a.Algo == "ed448") {
		return states.Wrong("keysize is an invalid parameter for " + a.Algo), nil
	}
	if a.Encoding != pki.PEM && a.Encoding != pki.DER {
		return states.Wrong("The encoding '" + a.Encoding + "' is not supported on this minion"), nil
	}
	m := &managed{c: c, name: a.Name, noun: "The private key", encoding: a.Encoding, file: file, created: true}
	var current crypto.Signer
	m.look = func(path string) (bool, error) {
		m.exists = true
		if a.New {
			m.changes.Set("replaced", m.name)
			return false, nil
		}
		b, err := pki.Source(path)
		if err != nil {
			return false, loader.ExecErr("%v", err)
		}
		var encoding string
		current, encoding, err = pki.LoadKey(b, a.secret())
		if errors.Is(err, pki.ErrSuperfluous) {
			m.changes.Set("passphrase", true)
			current, encoding, err = pki.LoadKey(b, nil)
		}
		switch {
		case err != nil:
			return a.unreadable(m, err)
		}
		a.compare(m.changes, current, encoding)
		return false, nil
	}
	m.make = func() ([]byte, error) {
		if current != nil && onlyOf(m.changes, "encoding", "passphrase") {
			return pki.EncodeKey(current, a.Encoding, a.secret())
		}
		return x509_v2.NewKey(a.Algo, a.Size, a.Passphrase, a.Encoding)
	}
	return m.plan()
}

// onlyOf tells whether nothing but some of these has changed.
func onlyOf(changes *payload.Map, names ...string) bool {
	rest := changes.Clone()
	for _, name := range names {
		rest.Delete(name)
	}
	return rest.Len() == 0
}

// unreadable is a key that cannot be read: it is replaced, if that is wanted.
func (a privateKeyArgs) unreadable(m *managed, err error) (replace bool, _ error) {
	switch {
	case errors.Is(err, pki.ErrPassword) && !a.Overwrite:
		return false, loader.ExecErr("The provided passphrase cannot decrypt the private key. Pass overwrite: true " +
			"to force " +
			"regeneration")
	case errors.Is(err, pki.ErrNoPassword) && !a.Overwrite:
		return false, loader.ExecErr("The existing file is encrypted. Pass overwrite: true to force regeneration " +
			"without " +
			"passphrase")
	case !a.Overwrite:
		return false, loader.ExecErr("The existing file does not seem to be a private key formatted as DER, PEM or " +
			"embedded in " +
			"PKCS12. Pass overwrite: true to force regeneration")
	case errors.Is(err, pki.ErrPassword) || errors.Is(err, pki.ErrNoPassword):
		m.changes.Set("passphrase", true)
	}
	m.changes.Set("created", m.name)
	return false, nil
}

// compare puts what differs of a key into changes.
func (a privateKeyArgs) compare(changes *payload.Map, current crypto.Signer, encoding string) {
	algo, size := pki.KeyType(current)
	wanted, _ := loader.ToInt(a.Size)
	if a.Size == nil {
		wanted = map[string]int64{"rsa": 2048, "ec": 256}[a.Algo]
	}
	if algo != a.Algo {
		changes.Set("algo", a.Algo)
	} else if size != wanted && size != 0 {
		changes.Set("keysize", wanted)
	}
	if encoding != a.Encoding {
		changes.Set("encoding", a.Encoding)
	}
}

type pemArgs struct {
	Name string       `arg:"name"`
	Text any          `arg:"text"`
	KW   *payload.Map `arg:"**kwargs"`
}

// pem is file.managed with a text that was put right.
func pem(c *states.Call, a pemArgs) (states.Plan, error) {
	file, others := splitArgs(a.KW)
	if err := noOthers(others); err != nil {
		return states.Plan{}, err
	}
	text, err := x509_v2.PEM(a.Text)
	if err != nil {
		return states.Wrong(loader.Message(err)), nil
	}
	m := &managed{c: c, name: a.Name, file: file.Set("contents", string(text))}
	sub, err := m.managedFile(payload.M("test", true))
	if err != nil {
		return states.Plan{}, err
	}
	p := states.Plan{Result: sub.Value("result"), Comment: sub.Value("comment"), Changes: sub.Map("changes")}
	if p.Result == false {
		return p, nil
	}
	p.Apply = func() (states.Done, error) {
		sub, err := m.managedFile(nil)
		return states.Done{Result: sub.Value("result"), Comment: sub.Value("comment"), Changes: sub.Map("changes")}, err
	}
	return p, nil
}
