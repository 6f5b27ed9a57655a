package x509_v2

import (
	"crypto/x509/pkix"
	"errors"
	"time"

	"brine/modules/execution/x509_v2"
	"brine/modules/host/pki"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type certificateArgs struct {
	Name      string       `arg:"name"`
	Remaining any          `arg:"days_remaining=None"`
	Server    any          `arg:"ca_server=None"`
	Policy    any          `arg:"signing_policy=None"`
	Encoding  string       `arg:"encoding=pem"`
	Append    any          `arg:"append_certs=None"`
	Digest    any          `arg:"digest=sha256"`
	SignKey   any          `arg:"signing_private_key=None"`
	SignPass  any          `arg:"signing_private_key_passphrase=None"`
	SignCert  any          `arg:"signing_cert=None"`
	Public    any          `arg:"public_key=None"`
	Key       any          `arg:"private_key=None"`
	KeyPass   any          `arg:"private_key_passphrase=None"`
	CSR       any          `arg:"csr=None"`
	Subject   any          `arg:"subject=None"`
	Serial    any          `arg:"serial_number=None"`
	Before    any          `arg:"not_before=None"`
	After     any          `arg:"not_after=None"`
	Days      any          `arg:"days_valid=None"`
	P12Pass   any          `arg:"pkcs12_passphrase=None"`
	P12Compat bool         `arg:"pkcs12_encryption_compat=False"`
	P12Name   any          `arg:"pkcs12_friendlyname=None"`
	KW        *payload.Map `arg:"**kwargs"`
}

// arguments are what the certificate is made of.
func (a certificateArgs) arguments(others *payload.Map) *payload.Map {
	out := payload.NewMap(0)
	for name, v := range map[string]any{"digest": a.Digest, "signing_private_key": a.SignKey,
		"signing_private_key_passphrase": a.SignPass, "signing_cert": a.SignCert, "public_key": a.Public,
		"private_key":            a.Key,
		"private_key_passphrase": a.KeyPass, "csr": a.CSR, "subject": a.Subject, "serial_number": a.Serial,
		"not_before": a.Before,
		"not_after":  a.After, "days_valid": a.Days} {
		if v != nil || name == "signing_private_key" { // the state hands that one on, given or not
			out.Set(name, v)
		}
	}
	out.Update(others)
	return out
}

// certificateCheck is a certificate on its way.
type certificateCheck struct {
	certificateArgs
	*managed
	args    *payload.Map
	days    int64
	current *pki.Cert
}

func certificate(c *states.Call, a certificateArgs) (states.Plan, error) {
	if a.Days == nil && a.After == nil {
		a.Days = int64(365)
	}
	if a.Remaining == nil {
		a.Remaining = int64(90)
	}
	if v, ok := a.KW.Get("algorithm"); ok {
		a.Digest = v
	}
	days, err := loader.ToInt(a.Remaining)
	if err != nil {
		return states.Plan{}, err
	}
	file, others := splitArgs(a.KW)
	others.Delete("algorithm")
	if a.Encoding != pki.PEM && a.Encoding != pki.DER {
		return states.Wrong("The encoding '" + a.Encoding + "' is not supported on this minion"), nil
	}
	k := &certificateCheck{certificateArgs: a, args: a.arguments(x509_v2.Compatible(others)), days: days,
		managed: &managed{c: c, name: a.Name, noun: "The certificate", encoding: a.Encoding, file: file}}
	k.look, k.make = k.compare, k.create
	return k.plan()
}

// others are the certificates after the first one.
func (k *certificateCheck) others() ([]*pki.Cert, error) {
	list, isList := k.Append.([]any)
	if !isList && python.Truth(k.Append) {
		list = []any{k.Append}
	}
	var out []*pki.Cert
	for _, v := range list {
		cert, err := x509_v2.Certificate(v)
		if err != nil {
			return nil, err
		}
		out = append(out, cert)
	}
	return out, nil
}

// compare compares the certificate in a file with the one that would be made.
func (k *certificateCheck) compare(path string) (replace bool, err error) {
	policy, err := x509_v2.Policy(k.c.Call, k.Policy, k.Server)
	if err != nil {
		return false, err
	}
	b, err := pki.Source(path)
	if err != nil {
		return false, loader.ExecErr("%v", err)
	}
	certs, encoding, err := pki.LoadCertificates(b)
	if errors.Is(err, pki.ErrForm) {
		return true, nil
	}
	k.current, k.exists = certs[0], true
	if encoding != k.Encoding {
		k.changes.Set("encoding", k.Encoding)
	}
	if k.current.NotAfter.Before(time.Now().Add(time.Duration(k.days) * 24 * time.Hour)) {
		k.changes.Set("expiration", true)
	}
	others, err := k.others()
	if err != nil {
		return false, err
	}
	same := len(others) == len(certs)-1
	for i := 0; same && i < len(others); i++ {
		same = others[i].Equal(certs[i+1])
	}
	if !same {
		k.changes.Set("additional_certs", true)
	}
	merged := x509_v2.Merged(policy, k.args)
	built, err := x509_v2.Build(merged, k.Server != nil)
	if err != nil {
		return false, err
	}
	if !pki.SignedWith(k.current.SignatureAlgorithm, built.Digest) {
		k.changes.Set("digest", k.Digest)
	}
	return false, k.compareBuilt(built)
}

// compareBuilt puts what differs into changes.
func (k *certificateCheck) compareBuilt(b *x509_v2.Built) error {
	if k.Serial != nil && b.Serial.Cmp(k.current.SerialNumber) != 0 {
		k.changes.Set("serial_number", k.Serial)
	}
	if !pki.SameKey(b.Public, k.current.PublicKey) {
		k.changes.Set("private_key", true)
	}
	if b.Signing != nil && !pki.SignedBy(k.current, b.Signing.PublicKey) {
		k.changes.Set("signing_private_key", true)
	}
	if err := named(k.changes, "subject_name", k.current.RawSubject, b.Subject); err != nil {
		return err
	}
	if err := named(k.changes, "issuer_name", k.current.RawIssuer, b.Issuer); err != nil {
		return err
	}
	extended(k.changes, k.current.Extensions, b.Extensions)
	return nil
}

// named tells of another name.
func named(changes *payload.Map, key string, current, wanted []byte) error {
	if pki.SameName(current, wanted) {
		return nil
	}
	name, err := pki.NameFrom(wanted)
	if err != nil {
		return loader.ExecErr("%v", err)
	}
	changes.Set(key, name.String())
	return nil
}

// extended tells of other extensions.
func extended(changes *payload.Map, current, wanted []pkix.Extension) {
	added, changed, removed := pki.Compared(current, wanted)
	if len(added)+len(changed)+len(removed) > 0 {
		changes.Set("extensions", payload.M("added", payload.AnyList(added), "changed", payload.AnyList(changed),
			"removed",
			payload.AnyList(removed)))
	}
}

// create makes the certificate, or writes the one that is there in another form.
func (k *certificateCheck) create() ([]byte, error) {
	cert := k.current
	if cert == nil || !onlyOf(k.changes, "additional_certs", "encoding", "pkcs12_friendlyname") {
		var err error
		if cert, err = x509_v2.NewCertificate(k.c.Call, k.Server, k.Policy, k.args); err != nil {
			return nil, err
		}
	}
	return x509_v2.Encode(cert, k.Append, k.Encoding)
}

type csrArgs struct {
	Name     string       `arg:"name"`
	Key      any          `arg:"private_key"`
	KeyPass  any          `arg:"private_key_passphrase=None"`
	Digest   any          `arg:"digest=sha256"`
	Encoding string       `arg:"encoding=pem"`
	Subject  any          `arg:"subject=None"`
	KW       *payload.Map `arg:"**kwargs"`
}

func csr(c *states.Call, a csrArgs) (states.Plan, error) {
	file, args := splitArgs(a.KW)
	if v, ok := args.Get("algorithm"); ok {
		a.Digest = v
		args.Delete("algorithm")
	}
	x509_v2.Compatible(args)
	if a.Subject != nil {
		args.Set("subject", a.Subject)
	}
	if a.Encoding != pki.PEM && a.Encoding != pki.DER {
		return states.Wrong("The encoding '" + a.Encoding + "' is not supported on this minion"), nil
	}
	m := &managed{c: c, name: a.Name, noun: "The certificate signing request", encoding: a.Encoding, file: file}
	var current *pki.CertificateRequest
	build := func() (*pki.CertificateRequest, error) {
		der, _, err := x509_v2.BuildCSR(a.Key, a.KeyPass, python.Str(a.Digest), args)
		if err != nil {
			return nil, err
		}
		req, _, err := pki.LoadRequest(der)
		return req, err
	}
	m.look = func(path string) (bool, error) {
		b, err := pki.Source(path)
		if err != nil {
			return false, loader.ExecErr("%v", err)
		}
		req, encoding, err := pki.LoadRequest(b)
		if err != nil {
			return true, nil // it is replaced
		}
		current, m.exists = req, true
		if !pki.SignedWith(req.SignatureAlgorithm, python.Str(a.Digest)) {
			m.changes.Set("digest", a.Digest)
		}
		if encoding != a.Encoding {
			m.changes.Set("encoding", a.Encoding)
		}
		wanted, err := build()
		if err != nil {
			return false, err
		}
		if !pki.SameKey(req.PublicKey, wanted.PublicKey) {
			m.changes.Set("private_key", true)
		}
		if err := named(m.changes, "subject_name", req.RawSubject, wanted.RawSubject); err != nil {
			return false, err
		}
		extended(m.changes, req.Extensions, wanted.Extensions)
		return false, nil
	}
	m.make = func() ([]byte, error) {
		req := current
		if req == nil || !onlyOf(m.changes, "encoding") {
			var err error
			if req, err = build(); err != nil {
				return nil, err
			}
		}
		return pki.EncodeRequest(req.Raw, a.Encoding), nil
	}
	return m.plan()
}
