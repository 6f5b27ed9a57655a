// Package x509_v2 is the execution module x509: private keys, certificates, requests for certificates and lists of
// revoked ones. How they are made and read stands in modules/host/pki; what the state module x509 calls is Build and
// the
// functions beside it. It answers to salt/modules/x509_v2.py.
//
// Unlike Salt: a file that is written is whole, and a private key is in none that others may read for a moment. The
// functions read_certificate, read_certificates, read_crl and read_csr are not here yet.
package x509_v2

import (
	"crypto"
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/modules/host/pki"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is x509.
func Module() loader.Module {
	return loader.Module{File: "x509_v2", Name: "x509", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("create_certificate", createCertificate, "Create a certificate.",
				"x509.create_certificate signing_private_key='/etc/pki/myca.key' CN='my.example.com'"),
			loader.Fn("encode_certificate", encodeCertificate, "Write a certificate in another form.",
				"x509.encode_certificate /etc/pki/my.crt der"),
			loader.Fn("create_crl", createCRL, "Create a list of revoked certificates.",
				"x509.create_crl signing_cert=/etc/pki/ca.crt signing_private_key=/etc/pki/ca.key revoked=\"[]\""),
			loader.Fn("encode_crl", encodeCRL, "Write a list of revoked certificates in another form.",
				"x509.encode_crl /etc/pki/my.crl der"),
			loader.Fn("create_csr", createCSR, "Create a request for a certificate.",
				"x509.create_csr private_key='/etc/pki/myca.key' CN='my.example.com'"),
			loader.Fn("encode_csr", encodeCSR, "Write a request in another form.",
				"x509.encode_csr /etc/pki/my.csr der"),
			loader.Fn("create_private_key", createKey, "Create a private key.",
				"x509.create_private_key algo=ec keysize=384"),
			loader.Fn("encode_private_key", encodeKey, "Write a private key in another form.",
				"x509.encode_private_key /etc/pki/my.key der"),
			loader.Fn("expires", expires, "Tell whether a certificate expires within so many days.",
				"x509.expires /etc/pki/my.crt days=7"),
			loader.Fn("expired", expired, "Tell whether a certificate has expired.",
				"x509.expired /etc/pki/mycert.crt"),
			loader.Fn("will_expire", willExpire, "Tell whether a certificate expires within so many days, with its "+
				"name.",
				"x509.will_expire /etc/pki/mycert.crt days=30"),
			loader.Fn("get_pem_entry", getPEM, "Give one PEM text, as it should be.",
				"x509.get_pem_entry /etc/pki/mycert.crt"),
			loader.Fn("get_pem_entries", getPEMs, "Give the PEM texts of several files.",
				"x509.get_pem_entries '/etc/pki/*.crt'"),
			loader.Fn("get_private_key_size", keySize, "Give the size of a private key in bits.",
				"x509.get_private_key_size /etc/pki/my.key"),
			loader.Fn("get_public_key", getPublic, "Give the public key of a key, a certificate or a request.",
				"x509.get_public_key /etc/pki/my.key"),
			loader.Fn("get_signing_policy", getPolicy, "Give a signing policy.", "x509.get_signing_policy www"),
			loader.Fn("sign_remote_certificate", signRemote, "Sign a certificate for another minion, as a policy "+
				"allows.", "x509.sign_remote_certificate '{\"signing_policy\": \"www\"}'"),
			loader.Fn("verify_crl", verifyCRL, "Tell whether a list of revoked certificates is signed by a "+
				"certificate.",
				"x509.verify_crl /etc/pki/my.crl /etc/pki/my.crt"),
			loader.Fn("verify_private_key", verifyKey, "Tell whether a private key and a public one are a pair.",
				"x509.verify_private_key /etc/pki/my.key /etc/pki/my.crt"),
			loader.Fn("verify_signature", verifySignature, "Tell whether a certificate is signed with a key.",
				"x509.verify_signature /etc/pki/my.crt /etc/pki/myca.crt"),
			loader.Fn("write_pem", writePEM, "Write a PEM text into a file.",
				`x509.write_pem "-----BEGIN ..." path=/etc/pki/my.crt`),
		}
	}}
}

// encodings checks an encoding against those that Salt knows, and those that are here.
func encodings(v string, known ...string) error {
	if !slices.Contains(known, v) {
		return loader.ExecErr("Invalid value '%s' for encoding. Valid: %s", v, strings.Join(known, ", "))
	}
	if v != pki.PEM && v != pki.DER {
		return loader.ExecErr("The encoding '%s' is not supported on this minion", v)
	}
	return nil
}

// output gives bytes as a function does: PEM as text, other bytes in base64, or raw.
func output(b []byte, encoding string, raw bool) any {
	switch {
	case raw:
		return b
	case encoding == pki.PEM:
		return string(b)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// written is output, or a file with the bytes in it, and a sentence about it.
func written(b []byte, encoding string, path any, raw bool, kind string) (any, error) {
	if path == nil {
		return output(b, encoding, raw), nil
	}
	mode := uint32(0o600)
	if err := safefile.Write(python.Str(path), b, safefile.Attrs{Mode: &mode}, true); err != nil {
		return nil, exec(err)
	}
	if encoding == pki.PEM {
		kind = "PEM"
	}
	return kind + " written to " + python.Str(path), nil
}

// unknown refuses keywords that nothing takes.
func unknown(kw *payload.Map, passedOver ...string) error {
	var names []any
	for name := range kw.All() {
		if text := python.Str(name); !strings.HasPrefix(text, "_") && !slices.Contains(passedOver, text) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return loader.InvocErr("Unrecognized keyword arguments: %s", python.Str(names))
}

type keyArgs struct {
	Algo       string       `arg:"algo=rsa"`
	Size       any          `arg:"keysize=None"`
	Passphrase any          `arg:"passphrase=None"`
	Encoding   string       `arg:"encoding=pem"`
	Compat     bool         `arg:"pkcs12_encryption_compat=False"`
	Path       any          `arg:"path=None"`
	Raw        bool         `arg:"raw=False"`
	KW         *payload.Map `arg:"**kwargs"`
}

func createKey(_ *loader.Call, a keyArgs) (any, error) {
	if v, ok := a.KW.Get("bits"); ok {
		a.Size = v
	}
	if err := unknown(a.KW, "bits", "cipher", "verbose", "text"); err != nil {
		return nil, err
	}
	if err := encodings(a.Encoding, "der", "pem", "pkcs12"); err != nil {
		return nil, err
	}
	b, err := NewKey(a.Algo, a.Size, a.Passphrase, a.Encoding)
	if err != nil {
		return nil, err
	}
	return written(b, a.Encoding, a.Path, a.Raw, "Private key")
}

// NewKey makes a private key, in an encoding.
func NewKey(algo string, size, passphrase any, encoding string) ([]byte, error) {
	bits := int64(0)
	if python.Truth(size) {
		n, err := loader.ToInt(size)
		if err != nil {
			return nil, err
		}
		bits = n
	}
	key, err := pki.Generate(algo, bits)
	if err != nil {
		return nil, told(err)
	}
	b, err := pki.EncodeKey(key, encoding, secret(passphrase))
	return b, told(err)
}

func encodeKey(_ *loader.Call, a struct {
	Key        any    `arg:"private_key"`
	Encoding   string `arg:"encoding=pem"`
	Passphrase any    `arg:"passphrase=None"`
	KeyPass    any    `arg:"private_key_passphrase=None"`
	Compat     bool   `arg:"pkcs12_encryption_compat=False"`
	Raw        bool   `arg:"raw=False"`
}) (any, error) {
	if err := encodings(a.Encoding, "der", "pem", "pkcs12"); err != nil {
		return nil, err
	}
	key, err := Key(a.Key, a.KeyPass)
	if err != nil {
		return nil, err
	}
	b, err := pki.EncodeKey(key, a.Encoding, secret(a.Passphrase))
	return output(b, a.Encoding, a.Raw), told(err)
}

type csrArgs struct {
	Key      any          `arg:"private_key"`
	KeyPass  any          `arg:"private_key_passphrase=None"`
	Digest   string       `arg:"digest=sha256"`
	Encoding string       `arg:"encoding=pem"`
	Path     any          `arg:"path=None"`
	Raw      bool         `arg:"raw=False"`
	KW       *payload.Map `arg:"**kwargs"`
}

func createCSR(_ *loader.Call, a csrArgs) (any, error) {
	if err := encodings(a.Encoding, "der", "pem"); err != nil {
		return nil, err
	}
	kw := Compatible(loader.CleanKWArgs(a.KW))
	if v, ok := kw.Get("algorithm"); ok {
		a.Digest = python.Str(v)
	}
	der, _, err := BuildCSR(a.Key, a.KeyPass, a.Digest, kw)
	if err != nil {
		return nil, err
	}
	return written(pki.EncodeRequest(der, a.Encoding), a.Encoding, a.Path, a.Raw, "CSR")
}

// BuildCSR makes a request for a certificate, in DER, with the key that it is of.
func BuildCSR(private, passphrase any, digest string, args *payload.Map) ([]byte, crypto.Signer, error) {
	key, err := Key(private, passphrase)
	if err != nil {
		return nil, nil, err
	}
	name, err := subject(args)
	if err != nil {
		return nil, nil, err
	}
	der, err := name.DER()
	if err != nil {
		return nil, nil, told(err)
	}
	names := slices.DeleteFunc(pki.ForCertificates(), func(n string) bool {
		return slices.Contains(notFromRequests,
			n)
	})
	exts, err := extensions(args, names, around{public: key.Public()})
	if err != nil {
		return nil, nil, err
	}
	out, err := pki.Request(der, exts, key, digest)
	return out, key, told(err)
}

func encodeCSR(_ *loader.Call, a struct {
	CSR      any    `arg:"csr"`
	Encoding string `arg:"encoding=pem"`
	Raw      bool   `arg:"raw=False"`
}) (any, error) {
	if err := encodings(a.Encoding, "der", "pem"); err != nil {
		return nil, err
	}
	req, err := request(a.CSR)
	if err != nil {
		return nil, err
	}
	return output(pki.EncodeRequest(req.Raw, a.Encoding), a.Encoding, a.Raw), nil
}

func expires(_ *loader.Call, a struct {
	Cert any   `arg:"certificate"`
	Days int64 `arg:"days=0"`
}) (bool, error) {
	cert, err := Certificate(a.Cert)
	return err == nil && endsWithin(cert, a.Days), err
}

func endsWithin(cert *pki.Cert, days int64) bool {
	return !cert.NotAfter.After(time.Now().Add(time.Duration(days) * 24 * time.Hour))
}

// named begins an answer about a certificate.
func named(v any) (*payload.Map, *pki.Cert, error) {
	cert, err := Certificate(v)
	if err != nil {
		return nil, nil, err
	}
	out := payload.NewMap(3)
	if text, ok := v.(string); ok {
		if info, err := os.Stat(text); err == nil && info.Mode().IsRegular() {
			out.Set("path", text)
		}
	}
	if cn := cert.Subject.CommonName; cn != "" {
		out.Set("cn", cn)
	}
	return out, cert, nil
}

func expired(_ *loader.Call, a struct {
	Cert any `arg:"certificate"`
}) (*payload.Map, error) {
	out, cert, err := named(a.Cert)
	if err != nil {
		return nil, err
	}
	return out.Set("expired", endsWithin(cert, 0)), nil
}

func willExpire(_ *loader.Call, a struct {
	Cert any   `arg:"certificate"`
	Days int64 `arg:"days"`
}) (*payload.Map, error) {
	out, cert, err := named(a.Cert)
	if err != nil {
		return nil, err
	}
	first := payload.M("check_days", a.Days)
	first.Update(out)
	return first.Set("will_expire", endsWithin(cert, a.Days)), nil
}

var pemEntry = pattern.New(`(?s)\s*(-----BEGIN [0-9A-Z ]+-----)\s+(?:(Proc-Type: 4,ENCRYPTED)\s*)?` +
	`(?:(DEK-Info: (?:DES-[3A-Z-]+,[0-9A-F]{16}|[0-9A-Z-]+,[0-9A-F]{32}))\s*)?(.+?)\s+(-----END [0-9A-Z ]+-----)\s*`)

// PEM is one PEM text as it should be, of a text or a file.
func PEM(v any) ([]byte, error) {
	b, err := source(v)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(b), `\n`, "\n")
	if strings.Count(strings.TrimSpace(text), "\n") == 0 { // on one line
		text = strings.NewReplacer("----- ", "-----\n", " -----", "\n-----").Replace(text)
		if i := strings.Index(text, "-----"); i >= 0 {
			if j := strings.Index(text[i+5:], "-----"); j >= 0 {
				head := i + 5 + j + 5
				tail := strings.LastIndex(text, "-----END")
				if tail > head {
					text = text[:head] + "\n" + text[head:tail] + "\n" + text[tail:]
				}
			}
		}
	}
	m := pemEntry.FindStringSubmatch(text)
	if m == nil {
		return nil, loader.InvocErr("PEM text not valid:\n%s", text)
	}
	out := m[1] + "\n"
	if m[2] != "" {
		out += m[2] + "\n"
	}
	if m[3] != "" {
		out += m[3] + "\n\n"
	}
	for body := strings.Join(strings.Fields(m[4]), ""); body != ""; {
		n := min(64, len(body))
		out += body[:n] + "\n"
		body = body[n:]
	}
	return []byte(out + m[5] + "\n"), nil
}

func getPEM(_ *loader.Call, a struct {
	Text any `arg:"text"`
	Type any `arg:"pem_type=None"`
}) (any, error) {
	b, err := PEM(a.Text)
	if err != nil {
		return nil, err
	}
	if a.Type != nil && !strings.HasPrefix(string(b), "-----BEGIN "+python.Str(a.Type)+"-----") {
		return nil, loader.InvocErr("PEM does not contain a single entry of type %s:\n%s", python.Str(a.Type), b)
	}
	return b, nil
}

func getPEMs(_ *loader.Call, a struct {
	Glob string `arg:"glob_path"`
}) (*payload.Map, error) {
	out := payload.NewMap(0)
	files, err := filepath.Glob(a.Glob)
	for _, file := range files {
		if b, err := PEM(file); err == nil {
			out.Set(file, b)
		}
	}
	return out, err
}

func writePEM(_ *loader.Call, a struct {
	Text      any    `arg:"text"`
	Path      string `arg:"path"`
	Overwrite bool   `arg:"overwrite=True"`
	Type      any    `arg:"pem_type=None"`
}) (any, error) {
	if !a.Overwrite {
		if _, err := os.Lstat(a.Path); err == nil {
			return nil, loader.ExecErr("The file %s exists, and overwrite=False is not supported on this minion",
				a.Path)
		}
	}
	b, err := PEM(a.Text)
	if err != nil {
		return nil, err
	}
	return written(b, pki.PEM, a.Path, false, "PEM")
}

func keySize(_ *loader.Call, a struct {
	Key        any `arg:"private_key"`
	Passphrase any `arg:"passphrase=None"`
}) (any, error) {
	key, err := Key(a.Key, a.Passphrase)
	if err != nil {
		return nil, err
	}
	if _, size := pki.KeyType(key); size > 0 {
		return size, nil
	}
	return nil, nil
}

// publicOf is the public key of a key, a certificate or a request.
func publicOf(v, passphrase any) (any, error) {
	if key, err := Public(v); err == nil {
		return key, nil
	}
	if cert, err := Certificate(v); err == nil {
		return cert.PublicKey, nil
	}
	if b, err := source(v); err == nil {
		switch key, _, err := pki.LoadKey(b, secret(passphrase)); err {
		case nil:
			return key.Public(), nil
		case pki.ErrPassword, pki.ErrNoPassword, pki.ErrSuperfluous:
			return nil, exec(err)
		}
	}
	if req, err := request(v); err == nil {
		return req.PublicKey, nil
	}
	return nil, loader.ExecErr("Could not load key as certificate, public key, private key or CSR")
}

func getPublic(_ *loader.Call, a struct {
	Key        any `arg:"key"`
	Passphrase any `arg:"passphrase=None"`
	AsObj      any `arg:"asObj=None"`
}) (string, error) {
	key, err := publicOf(a.Key, a.Passphrase)
	if err != nil {
		return "", err
	}
	b, err := pki.EncodePublic(key)
	return string(b), exec(err)
}

func verifyCRL(_ *loader.Call, a struct {
	CRL  any `arg:"crl"`
	Cert any `arg:"cert"`
}) (bool, error) {
	list, err := revocations(a.CRL)
	if err != nil {
		return false, err
	}
	key, err := publicOf(a.Cert, nil)
	return err == nil && pki.ListSignedBy(list, key), err
}

func verifyKey(_ *loader.Call, a struct {
	Key        any `arg:"private_key"`
	Public     any `arg:"public_key"`
	Passphrase any `arg:"passphrase=None"`
}) (bool, error) {
	key, err := Key(a.Key, a.Passphrase)
	if err != nil {
		return false, err
	}
	public, err := publicOf(a.Public, nil)
	return err == nil && pki.SameKey(public, key.Public()), err
}

func verifySignature(_ *loader.Call, a struct {
	Cert       any `arg:"certificate"`
	Key        any `arg:"signing_pub_key=None"`
	Passphrase any `arg:"signing_pub_key_passphrase=None"`
}) (bool, error) {
	cert, err := Certificate(a.Cert)
	if err != nil {
		return false, err
	}
	if !python.Truth(a.Key) {
		a.Key = a.Cert
	}
	key, err := publicOf(a.Key, a.Passphrase)
	return err == nil && pki.SignedBy(cert, key), err
}
