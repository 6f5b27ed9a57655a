package x509_v2

import (
	"math/big"
	"time"

	"brine/modules/host/pki"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// longNames are older names of arguments, by the ones that count.
func longNames() map[string][]string {
	return map[string][]string{"CN": {"commonName"}, "L": {"localityName"}, "ST": {"stateOrProvinceName"},
		"O": {"organizationName"}, "OU": {"organizationUnitName"}, "GN": {"givenName"}, "SN": {"surname"},
		"MAIL": {"Email", "emailAddress"}, "SERIALNUMBER": {"serialNumber"},
		"basicConstraints": {"X509v3 Basic Constraints"}, "keyUsage": {"X509v3 Key Usage"},
		"extendedKeyUsage": {"X509v3 Extended Key Usage"}, "subjectKeyIdentifier": {"X509v3 Subject Key Identifier"},
		"authorityKeyIdentifier": {"X509v3 Authority Key Identifier"},
		"issuerAltName":          {"X509v3 Issuer Alternative Name", "issuserAltName"},
		"authorityInfoAccess":    {"Authority Information Access"}, "subjectAltName": {"X509v3 Subject Alternative " +
			"Name"},
		"crlDistributionPoints": {"X509v3 CRL Distribution Points"},
		"certificatePolicies":   {"X509v3 Certificate Policies"},
		"nsComment":             {"Netscape Comment"}, "nsCertType": {"Netscape Certificate Type"}}
}

// Compatible gives older names of arguments the ones that count, in the map itself.
func Compatible(kw *payload.Map) *payload.Map {
	for name, olds := range longNames() {
		for _, old := range olds {
			if v, ok := kw.Get(old); ok {
				kw.Delete(old)
				kw.Set(name, v)
			}
		}
	}
	return kw
}

// Merged are arguments under a signing policy, which counts more.
func Merged(policy, args *payload.Map) *payload.Map {
	out := Compatible(args.Clone())
	if policy.Len() == 0 {
		return out
	}
	policy = policy.Clone()
	for _, short := range pki.Shorts() {
		if policy.Has(short) {
			out.Delete("subject")
		}
	}
	given, fixed := out.Value("subject"), policy.Value("subject")
	if m, ok := given.(*payload.Map); ok {
		if p, ok := fixed.(*payload.Map); ok {
			m = m.Clone()
			m.Update(p)
			out.Set("subject", m)
			policy.Delete("subject")
		}
	} else if list, ok := given.([]any); ok {
		if p, ok := fixed.([]any); ok {
			out.Set("subject", append(append([]any{}, p...), list...))
			policy.Delete("subject")
		}
	}
	out.Update(policy)
	return out
}

// Policy is a signing policy: of pillar or options, or of a ca_server.
func Policy(c *loader.Call, name, server any) (*payload.Map, error) {
	if server != nil {
		v, err := ask(c, server, name, payload.NewMap(0), true)
		if err != nil {
			return nil, err
		}
		m, _ := v.(*payload.Map)
		return Compatible(m.Clone()), nil
	}
	if name == nil {
		return payload.NewMap(0), nil
	}
	for _, fun := range []string{"pillar.get", "config.get"} {
		v, err := c.Call(fun, []any{"x509_signing_policies", payload.NewMap(0)}, nil)
		if err != nil {
			return nil, err
		}
		all, _ := v.(*payload.Map)
		switch x := all.Value(name).(type) {
		case *payload.Map:
			return Compatible(x.Clone()), nil
		case []any:
			out := payload.NewMap(0)
			for _, item := range x {
				if m, ok := item.(*payload.Map); ok {
					out.Update(m)
				}
			}
			return Compatible(out), nil
		}
	}
	return payload.NewMap(0), nil
}

func getPolicy(c *loader.Call, a struct {
	Name   any `arg:"signing_policy"`
	Server any `arg:"ca_server=None"`
}) (*payload.Map, error) {
	return Policy(c, a.Name, a.Server)
}

type certificateArgs struct {
	Server    any          `arg:"ca_server=None"`
	Policy    any          `arg:"signing_policy=None"`
	Encoding  string       `arg:"encoding=pem"`
	Append    any          `arg:"append_certs=None"`
	P12Pass   any          `arg:"pkcs12_passphrase=None"`
	P12Compat bool         `arg:"pkcs12_encryption_compat=False"`
	P12Name   any          `arg:"pkcs12_friendlyname=None"`
	Path      any          `arg:"path=None"`
	Overwrite bool         `arg:"overwrite=True"`
	Raw       bool         `arg:"raw=False"`
	KW        *payload.Map `arg:"**kwargs"`
}

func createCertificate(c *loader.Call, a certificateArgs) (any, error) {
	if err := encodings(a.Encoding, "der", "pem", "pkcs7_der", "pkcs7_pem", "pkcs12"); err != nil {
		return nil, err
	}
	kw := Compatible(loader.CleanKWArgs(a.KW))
	if v, ok := kw.Get("algorithm"); ok {
		kw.Set("digest", v).Delete("algorithm")
	}
	if !kw.Has("days_valid") && !kw.Has("not_after") {
		kw.Set("days_valid", int64(365))
	}
	cert, err := NewCertificate(c, a.Server, a.Policy, kw)
	if err != nil {
		return nil, err
	}
	b, err := Encode(cert, a.Append, a.Encoding)
	if err != nil {
		return nil, err
	}
	return written(b, a.Encoding, a.Path, a.Raw, "Certificate")
}

// NewCertificate signs a certificate here, or has a ca_server sign it.
func NewCertificate(c *loader.Call, server, policy any, args *payload.Map) (*pki.Cert, error) {
	if python.Truth(server) {
		if policy == nil {
			return nil, loader.InvocErr("signing_policy must be specified to request a certificate from a remote " +
				"ca_server")
		}
		return remote(c, server, policy, args)
	}
	found, err := Policy(c, policy, nil)
	if err != nil {
		return nil, err
	}
	all := Merged(found, args)
	if !all.Has("signing_private_key") {
		return nil, loader.InvocErr("Creating a certificate locally at least requires a signing private key.")
	}
	b, err := Build(all, false)
	if err != nil {
		return nil, err
	}
	cert, err := b.Sign()
	return cert, told(err)
}

// Encode writes a certificate with others after it.
func Encode(cert *pki.Cert, others any, encoding string) ([]byte, error) {
	certs := []*pki.Cert{cert}
	list, isList := others.([]any)
	if !isList && python.Truth(others) {
		list = []any{others}
	}
	for _, v := range list {
		other, err := Certificate(v)
		if err != nil {
			return nil, err
		}
		certs = append(certs, other)
	}
	if encoding == pki.DER && len(certs) > 1 {
		return nil, loader.InvocErr("Cannot encode a certificate chain in DER")
	}
	return pki.EncodeCertificates(certs, encoding), nil
}

func encodeCertificate(_ *loader.Call, a struct {
	Cert      any    `arg:"certificate"`
	Encoding  string `arg:"encoding=pem"`
	Append    any    `arg:"append_certs=None"`
	Key       any    `arg:"private_key=None"`
	KeyPass   any    `arg:"private_key_passphrase=None"`
	P12Pass   any    `arg:"pkcs12_passphrase=None"`
	P12Compat bool   `arg:"pkcs12_encryption_compat=False"`
	P12Name   any    `arg:"pkcs12_friendlyname=None"`
	Raw       bool   `arg:"raw=False"`
}) (any, error) {
	if err := encodings(a.Encoding, "der", "pem", "pkcs7_der", "pkcs7_pem", "pkcs12"); err != nil {
		return nil, err
	}
	if a.Key != nil {
		return nil, loader.InvocErr("Embedding private keys is only supported for pkcs12 encoding")
	}
	cert, err := Certificate(a.Cert)
	if err != nil {
		return nil, err
	}
	b, err := Encode(cert, a.Append, a.Encoding)
	return output(b, a.Encoding, a.Raw), err
}

// remote has a ca_server sign a certificate. Only public keys go there.
func remote(c *loader.Call, server, policy any, args *payload.Map) (*pki.Cert, error) {
	kw := args.Clone()
	if own := kw.Value("private_key"); python.Truth(own) {
		key, err := Key(own, kw.Value("private_key_passphrase"))
		if err != nil {
			return nil, err
		}
		b, err := pki.EncodePublic(key.Public())
		if err != nil {
			return nil, told(err)
		}
		kw.Set("public_key", string(b))
	} else if public := kw.Value("public_key"); python.Truth(public) {
		key, err := publicOf(public, nil)
		if err != nil {
			return nil, err
		}
		b, err := pki.EncodePublic(key)
		if err != nil {
			return nil, told(err)
		}
		kw.Set("public_key", string(b))
	}
	if v := kw.Value("csr"); python.Truth(v) {
		req, err := request(v)
		if err != nil {
			return nil, err
		}
		kw.Set("csr", string(pki.EncodeRequest(req.Raw, pki.PEM)))
	}
	for _, own := range []string{"private_key", "private_key_passphrase", "signing_private_key",
		"signing_private_key_passphrase"} {
		kw.Delete(own)
	}
	v, err := ask(c, server, policy, kw, false)
	if err != nil {
		return nil, err
	}
	if text, ok := v.(string); ok {
		if certs, _, err := pki.LoadCertificates([]byte(text)); err == nil {
			return certs[0], nil
		}
	}
	cert, err := Certificate(v)
	if err != nil {
		return nil, loader.ExecErr("ca_server did not return a certificate: %s", python.Str(v))
	}
	return cert, nil
}

// ask asks a ca_server through the master.
func ask(c *loader.Call, server, policy any, kw *payload.Map, policyOnly bool) (any, error) {
	v, err := c.Call("publish.publish", []any{server, "x509.sign_remote_certificate"},
		payload.M("arg", []any{policy, kw, policyOnly}, "timeout", int64(60)))
	if err != nil {
		return nil, err
	}
	answers, _ := v.(*payload.Map)
	if answers.Len() == 0 {
		return nil, loader.InvocErr("ca_server did not respond. Salt master must permit peers to call the " +
			"sign_remote_certificate function.")
	}
	answer, ok := answers.Value(answers.Keys()[0]).(*payload.Map)
	if !ok || !answer.Has("data") {
		return nil, loader.ExecErr("Received invalid return value from ca_server. See minion log for details")
	}
	if errs := answer.List("errors"); len(errs) > 0 {
		text := "ca_server reported errors:"
		for _, e := range errs {
			text += "\n" + python.Str(e)
		}
		return nil, loader.ExecErr("%s", text)
	}
	return answer.Value("data"), nil
}

// signRemote signs a certificate for another minion.
func signRemote(c *loader.Call, a struct {
	Policy any          `arg:"signing_policy"`
	Args   *payload.Map `arg:"kwargs"`
	Only   bool         `arg:"get_signing_policy_only=False"`
	More   *payload.Map `arg:"**more_kwargs"`
}) (*payload.Map, error) {
	refuse := func(text string) (*payload.Map, error) { return payload.M("data", nil, "errors", []any{text}), nil }
	policy, err := Policy(c, a.Policy, nil)
	if err != nil {
		return refuse("Failed building the signing policy. See CA server log for details.")
	}
	if policy.Len() == 0 {
		return refuse("signing_policy must be specified and defined on signing minion")
	}
	if who := policy.Value("minions"); who != nil {
		id, known := a.More.Get("__pub_id")
		if !known {
			return refuse("minion sending this request could not be identified")
		}
		fits, err := matches(c, python.Str(who), python.Str(id))
		if err != nil || !fits {
			return refuse("minion not permitted to use specified signing policy")
		}
		policy.Delete("minions")
	}
	if a.Only {
		policy.Delete("signing_private_key")
		policy.Delete("signing_private_key_passphrase")
		if v := policy.Value("signing_cert"); v != nil {
			cert, err := Certificate(v)
			if err != nil {
				return refuse(loader.Message(err))
			}
			policy.Set("signing_cert", string(pki.EncodeCertificates([]*pki.Cert{cert}, pki.PEM)))
		}
		return payload.M("data", policy, "errors", []any{}), nil
	}
	all := Merged(policy, a.Args)
	if !policy.Has("signing_private_key") { // unlike Salt, where a peer may name any key of this minion
		return refuse("The signing policy has no signing_private_key")
	}
	b, err := Build(all, false)
	if err != nil {
		return refuse(loader.Message(err))
	}
	cert, err := b.Sign()
	if err != nil {
		return refuse(err.Error())
	}
	return payload.M("data", cert.Raw, "errors", []any{}), nil
}

// matches tells whether a policy is for a minion.
func matches(c *loader.Call, test, id string) (bool, error) {
	v, err := c.Call("match.glob", []any{test, id}, nil)
	return python.Truth(v), err
}

type crlArgs struct {
	Key        any          `arg:"signing_private_key"`
	Revoked    any          `arg:"revoked"`
	Cert       any          `arg:"signing_cert=None"`
	KeyPass    any          `arg:"signing_private_key_passphrase=None"`
	Expired    bool         `arg:"include_expired=False"`
	Days       any          `arg:"days_valid=None"`
	Digest     string       `arg:"digest=sha256"`
	Encoding   string       `arg:"encoding=pem"`
	Extensions *payload.Map `arg:"extensions=None"`
	Path       any          `arg:"path=None"`
	Raw        bool         `arg:"raw=False"`
	KW         *payload.Map `arg:"**kwargs"`
}

func createCRL(_ *loader.Call, a crlArgs) (any, error) {
	if err := unknown(a.KW, "text"); err != nil {
		return nil, err
	}
	if err := encodings(a.Encoding, "der", "pem"); err != nil {
		return nil, err
	}
	r, err := CRL{a.Key, a.KeyPass, a.Cert, a.Revoked, a.Expired, a.Days, a.Digest, a.Extensions}.Build()
	if err != nil {
		return nil, err
	}
	der, err := r.Sign()
	if err != nil {
		return nil, told(err)
	}
	return written(pki.EncodeRevocations(der, a.Encoding), a.Encoding, a.Path, a.Raw, "CRL")
}

// CRL is what a list of revoked certificates is made of, as arguments give it.
type CRL struct {
	Key, KeyPass, Cert, Revoked any
	Expired                     bool
	Days                        any // nil: 100
	Digest                      string
	Extensions                  *payload.Map
}

// ForLists are the extensions of lists.
func ForLists() []string {
	return []string{"authorityKeyIdentifier", "authorityInfoAccess", "cRLNumber", "freshestCRL", "issuerAltName"}
}

// Build makes the list, before it is signed.
func (a CRL) Build() (*pki.Revocations, error) {
	var ca *pki.Cert
	var err error
	if python.Truth(a.Cert) {
		if ca, err = Certificate(a.Cert); err != nil {
			return nil, err
		}
	}
	key, err := Key(a.Key, a.KeyPass)
	if err != nil {
		return nil, err
	}
	if ca != nil && !pki.SameKey(ca.PublicKey, key.Public()) {
		return nil, loader.InvocErr("Signing private key does not match the certificate's public key")
	}
	days := int64(100)
	if a.Days != nil {
		if days, err = loader.ToInt(a.Days); err != nil {
			return nil, err
		}
	}
	now := time.Now().UTC().Truncate(time.Second)
	r := &pki.Revocations{Updated: now, NextTime: now.AddDate(0, 0, int(days)), SigningKey: key, Digest: a.Digest}
	if ca != nil {
		r.Issuer = ca.RawSubject
	}
	list, _ := a.Revoked.([]any)
	for _, v := range list {
		m, _ := v.(*payload.Map)
		entry, counts, err := a.entry(m, now)
		if err != nil {
			return nil, err
		}
		if counts {
			r.Revoked = append(r.Revoked, entry)
		}
	}
	for name := range a.Extensions.All() {
		if pki.OID(python.Str(name)) == nil {
			return nil, loader.ExecErr("The extension %s is not supported on this minion", python.Str(name))
		}
	}
	r.Extensions, err = extensions(a.Extensions, ForLists(), around{ca: ca})
	return r, err
}

// entry is one revoked certificate; counts is false for one that has expired.
func (a CRL) entry(m *payload.Map, now time.Time) (e pki.Revoked, counts bool, err error) {
	if m.Len() == 1 { // the old form: a name with a list of maps
		if inner, ok := m.Value(m.Keys()[0]).([]any); ok {
			m = payload.NewMap(0)
			for _, item := range inner {
				part, _ := item.(*payload.Map)
				m.Update(part)
			}
		}
	}
	var end time.Time
	if v := m.Value("not_after"); v != nil {
		if end, err = parseTime(v); err != nil {
			return e, false, err
		}
	}
	number := m.Value("serial_number")
	if v := m.Value("certificate"); v != nil {
		cert, err := Certificate(v)
		if err != nil {
			return e, false, err
		}
		number, end = new(big.Int).Set(cert.SerialNumber), cert.NotAfter
	}
	if big, isBig := number.(*big.Int); !isBig && !python.Truth(number) || isBig && big.Sign() == 0 {
		return e, false, loader.InvocErr("Need serial_number or certificate")
	}
	if e.Serial, err = serial(number); err != nil {
		return e, false, err
	}
	if !end.IsZero() && !a.Expired && now.After(end) {
		return e, false, nil
	}
	e.Time = now
	if v := m.Value("revocation_date"); v != nil {
		if e.Time, err = parseTime(v); err != nil {
			return e, false, err
		}
	}
	exts := m.Map("extensions").Clone()
	if v := m.Value("reason"); v != nil {
		exts.Set("CRLReason", v)
	}
	e.Extensions, err = extensions(exts, []string{"CRLReason"}, around{})
	return e, true, err
}

func revocations(v any) (*pki.List, error) {
	b, err := source(v)
	if err != nil {
		return nil, err
	}
	list, _, err := pki.LoadRevocations(b)
	return list, told(err)
}

func encodeCRL(_ *loader.Call, a struct {
	CRL      any    `arg:"crl"`
	Encoding string `arg:"encoding=pem"`
	Raw      bool   `arg:"raw=False"`
}) (any, error) {
	if err := encodings(a.Encoding, "der", "pem"); err != nil {
		return nil, err
	}
	list, err := revocations(a.CRL)
	if err != nil {
		return nil, err
	}
	return output(pki.EncodeRevocations(list.Raw, a.Encoding), a.Encoding, a.Raw), nil
}
