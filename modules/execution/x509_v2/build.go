package x509_v2

import (
	"crypto"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"brine/modules/host/pki"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// source is what an argument stands for: a file, a text, or bytes.
func source(v any) ([]byte, error) {
	switch x := v.(type) {
	case []byte:
		return x, nil
	case nil:
		return nil, told(pki.ErrSource)
	}
	b, err := pki.Source(loader.Text(v))
	return b, told(err)
}

// told is an error of pki as Salt raises it: what is wrong with the arguments.
func told(err error) error {
	if err == nil {
		return nil
	}
	return &loader.InvocationError{Message: err.Error(), Class: classOf(err)}
}

// classOf is the class of Salt for an error of pki; "": it has none of its own.
func classOf(err error) string {
	const module = "salt.utils.x509."
	var form *pki.FormError
	switch {
	case errors.Is(err, pki.ErrPassword):
		return module + "InvalidPassword"
	case errors.Is(err, pki.ErrNoPassword):
		return module + "MissingPassword"
	case errors.Is(err, pki.ErrSuperfluous):
		return module + "SuperfluousPassword"
	case errors.As(err, &form) && form.Of != "":
		return module + form.Of + "DeserializationError"
	}
	return ""
}

// secret is a passphrase; nil: none.
func secret(v any) *string {
	if v == nil {
		return nil
	}
	text := python.Str(v)
	return &text
}

// Key reads a private key.
func Key(v, passphrase any) (crypto.Signer, error) {
	b, err := source(v)
	if err != nil {
		return nil, err
	}
	key, _, err := pki.LoadKey(b, secret(passphrase))
	return key, told(err)
}

// Certificate reads a certificate.
func Certificate(v any) (*pki.Cert, error) {
	b, err := source(v)
	if err != nil {
		return nil, err
	}
	certs, _, err := pki.LoadCertificates(b)
	if err != nil {
		return nil, told(err)
	}
	return certs[0], nil
}

// Built is a certificate before it is signed, with what it was made from.
type Built struct {
	*pki.Certificate
	Own     crypto.Signer // the private key of the certificate, where it is known
	Signing *pki.Cert     // nil: it signs itself
}

// timeFormat is how times are given and shown.
const timeFormat = "2006-01-02 15:04:05"

func parseTime(v any) (time.Time, error) {
	t, err := time.Parse(timeFormat, python.Str(v))
	if err != nil {
		err = loader.Raise("ValueError", "time data '%s' does not match format '%%Y-%%m-%%d %%H:%%M:%%S'",
			python.Str(v))
	}
	return t, err
}

// Build makes a certificate of arguments, and of a signing policy that is merged into them. With remote it is compared
// only: there is no key to sign with.
func Build(args *payload.Map, remote bool) (*Built, error) {
	b := &Built{Certificate: &pki.Certificate{Digest: digestOf(args)}}
	var err error
	if !remote {
		if b.SigningKey, err = Key(args.Value("signing_private_key"),
			args.Value("signing_private_key_passphrase")); err != nil {
			return nil, err
		}
	}
	if b.Serial, err = serial(args.Value("serial_number")); err != nil {
		return nil, err
	}
	var req *pki.CertificateRequest
	if v := args.Value("csr"); python.Truth(v) {
		if req, err = request(v); err != nil {
			return nil, err
		}
	}
	if err := b.keys(args, req); err != nil {
		return nil, err
	}
	name, err := subject(args)
	if err != nil {
		return nil, err
	}
	if b.Subject, err = name.DER(); err != nil {
		return nil, told(err)
	}
	b.Issuer = b.Subject
	if b.Signing != nil {
		b.Issuer = b.Signing.RawSubject
	}
	if err := b.times(args); err != nil {
		return nil, err
	}
	var caPublic any
	if b.Signing == nil {
		caPublic = b.Public
	}
	b.Extensions, err = extensions(args, pki.ForCertificates(), around{b.Public, b.Signing, caPublic})
	if req != nil {
		b.takeFrom(req)
	}
	return b, err
}

// keys finds whose key the certificate is of.
func (b *Built) keys(args *payload.Map, req *pki.CertificateRequest) (err error) {
	if v := args.Value("signing_cert"); python.Truth(v) {
		if b.Signing, err = Certificate(v); err != nil {
			return err
		}
	}
	switch own, public := args.Value("private_key"), args.Value("public_key"); {
	case b.Signing == nil && b.SigningKey == nil:
		return loader.InvocErr("The signing certificate of the ca_server is not known")
	case b.Signing == nil:
		b.Own, b.Public = b.SigningKey, b.SigningKey.Public()
	case python.Truth(own):
		if b.Own, err = Key(own, args.Value("private_key_passphrase")); err != nil {
			return err
		}
		b.Public = b.Own.Public()
	case python.Truth(public):
		if b.Public, err = Public(public); err != nil {
			return err
		}
	case req != nil:
		b.Public = req.PublicKey
	default:
		return loader.InvocErr("This certificate is not self-signed (signing_cert is set) and thus needs " +
			"public_key, private_key " +
			"or csr to derive public key to sign")
	}
	if b.Signing != nil && b.SigningKey != nil && !pki.SameKey(b.Signing.PublicKey, b.SigningKey.Public()) {
		return loader.InvocErr("Signing private key does not match the certificate's public key")
	}
	return nil
}

func (b *Built) times(args *payload.Map) (err error) {
	now := time.Now().UTC()
	b.Before, b.After = now, now.AddDate(0, 0, 30)
	if days := args.Value("days_valid"); days != nil {
		n, err := loader.ToInt(days)
		if err != nil {
			return err
		}
		b.After = now.Add(time.Duration(n) * 24 * time.Hour)
	}
	if v := args.Value("not_before"); python.Truth(v) {
		if b.Before, err = parseTime(v); err != nil {
			return err
		}
	}
	if v := args.Value("not_after"); python.Truth(v) {
		b.After, err = parseTime(v)
	}
	return err
}

// notFromRequests are extensions that a request does not decide on.
var notFromRequests = []string{"authorityInfoAccess", "authorityKeyIdentifier", "issuerAltName",
	"crlDistributionPoints"}

// takeFrom takes extensions from a request, where the arguments say nothing of them.
func (b *Built) takeFrom(req *pki.CertificateRequest) {
	for _, name := range pki.ForCertificates() {
		oid := pki.OID(name)
		is := func(e pkix.Extension) bool { return e.Id.Equal(oid) }
		if slices.Contains(notFromRequests, name) || slices.ContainsFunc(b.Extensions, is) {
			continue
		}
		if i := slices.IndexFunc(req.Extensions, is); i >= 0 {
			b.Extensions = append(b.Extensions, req.Extensions[i])
		}
	}
}

// digestOf is the digest that is signed, sha256 where nothing is said.
func digestOf(args *payload.Map) string {
	if v := args.Value("digest"); v != nil {
		return strings.ToLower(python.Str(v))
	}
	return "sha256"
}

func request(v any) (*pki.CertificateRequest, error) {
	b, err := source(v)
	if err != nil {
		return nil, err
	}
	req, _, err := pki.LoadRequest(b)
	return req, told(err)
}

// Public reads a public key.
func Public(v any) (any, error) {
	b, err := source(v)
	if err != nil {
		return nil, err
	}
	key, err := pki.LoadPublic(b)
	return key, told(err)
}

// serial is a serial number: of the arguments, or a random one.
func serial(v any) (*big.Int, error) {
	switch x := v.(type) {
	case nil:
		return pki.Serial(), nil
	case int64:
		return big.NewInt(x), nil
	case string:
		if b, err := hex.DecodeString(strings.ReplaceAll(x, ":", "")); err == nil {
			return new(big.Int).SetBytes(b), nil
		}
	case *big.Int:
		return x, nil
	}
	return nil, loader.ExecErr("Could not parse serial number %s", python.Str(v))
}

// subject is the name in the arguments: the subject, or its parts.
func subject(args *payload.Map) (pki.Name, error) {
	switch x := args.Value("subject").(type) {
	case string:
		if x != "" {
			name, err := pki.ParseName(x)
			return name, exec(err)
		}
	case []any:
		var out pki.Name
		for _, v := range x {
			part, err := pki.ParsePart(python.Str(v))
			if err != nil {
				return nil, loader.ExecErr("Failed parsing rdn string: %s", python.Str(v))
			}
			out = append(out, part)
		}
		return out, nil
	case *payload.Map:
		args = x
	}
	return pki.NameOf(func(short string) (string, bool) {
		v, ok := args.Get(short)
		return loader.Text(v), ok && v != nil
	}), nil
}

// exec is an error of pki as a failure of the command.
func exec(err error) error {
	if err == nil {
		return nil
	}
	return loader.ExecErr("%s", err.Error())
}

var errCritical = errors.New("must be marked as non-critical")
