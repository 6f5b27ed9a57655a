// Package pki makes and reads private keys, certificates, requests for certificates and lists of revoked ones: bytes
// in,
// bytes out. Names, extensions and texts of Salt are its input; where files lie and what a function is called is a
// caller's business. It answers to salt/utils/x509.py and what that takes from the Python library cryptography.
//
// Keys are RSA, EC and Ed25519; encodings are PEM and DER. Unlike Salt: Ed448, PKCS#7 and PKCS#12, and digests that
// crypto/x509 does not sign with, are refused by name.
package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"brine/modules/host/plainfile"
)

// Errors that a caller decides on; the texts are Salt's.
var (
	ErrPassword    = errors.New("Bad decrypt - is the password correct?")
	ErrNoPassword  = errors.New("Private key is encrypted. Please provide a password.")
	ErrSuperfluous = errors.New("Private key is unencrypted. Please remove the password.")
	// ErrForm means bytes that are not what is wanted. What wraps it has Salt's text.
	ErrForm = errors.New("unknown form")
	// ErrSource means something that stands for no bytes.
	ErrSource = formError("", "Could not load provided source. You need to pass an existing file, "+
		"(PEM|hex|base64)-encoded string or raw bytes.")
)

// FormError is an ErrForm with a text of its own.
type FormError struct {
	Of   string // what the bytes are not: "Cert", "Priv", "Pub", "CSR" or "CRL"; "": they are nothing at all
	Text string
}

func (e *FormError) Error() string        { return e.Text }
func (e *FormError) Is(target error) bool { return target == ErrForm }

func formError(of, text string) error { return &FormError{of, text} }

// Encodings that are written and read.
const (
	PEM = "pem"
	DER = "der"
)

// maxSource is the size of the largest file that is read, in bytes.
const maxSource = 16 << 20

const pemBegin = "-----BEGIN"

// Source is what a text stands for: a file, a PEM text, or bytes as hexadecimal digits or in base64.
func Source(text string) ([]byte, error) {
	if info, err := os.Stat(text); err == nil && info.Mode().IsRegular() {
		return plainfile.Read(text, maxSource)
	}
	if rest, ok := strings.CutPrefix(text, "b64:"); ok {
		return base64.StdEncoding.DecodeString(rest)
	}
	if strings.Contains(text, pemBegin) {
		return []byte(text), nil
	}
	if b, err := hex.DecodeString(text); err == nil && len(b) > 0 {
		return b, nil
	}
	if b, err := base64.StdEncoding.DecodeString(text); err == nil && len(b) > 0 {
		return b, nil
	}
	return nil, ErrSource
}

// Generate makes a private key.
func Generate(algo string, size int64) (crypto.Signer, error) {
	switch algo {
	case "rsa":
		if size == 0 {
			size = 2048
		}
		if size != 2048 && size != 3072 && size != 4096 {
			return nil, errors.New("RSA key size must be either 2048, 3072 or 4096 bits.")
		}
		return rsa.GenerateKey(rand.Reader, int(size))
	case "ec":
		curve, ok := map[int64]elliptic.Curve{0: elliptic.P256(), 256: elliptic.P256(), 384: elliptic.P384(),
			521: elliptic.P521()}[size]
		if !ok {
			return nil, errors.New("EC key size must be either 256, 384, 521 bits.")
		}
		return ecdsa.GenerateKey(curve, rand.Reader)
	case "ed25519":
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	case "ed448":
		return nil, errors.New("Keys of the algorithm ed448 are not supported on this minion")
	}
	return nil, fmt.Errorf("Invalid algorithm specified for generating private key: %s. Valid: rsa, ec, ed25519, "+
		"ed448", algo)
}

// KeyType is the algorithm of a key and its size in bits, 0 where it has none.
func KeyType(key any) (algo string, size int64) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return "rsa", int64(k.N.BitLen())
	case *rsa.PublicKey:
		return "rsa", int64(k.N.BitLen())
	case *ecdsa.PrivateKey:
		return "ec", int64(k.Params().BitSize)
	case *ecdsa.PublicKey:
		return "ec", int64(k.Params().BitSize)
	case ed25519.PrivateKey, ed25519.PublicKey:
		return "ed25519", 0
	}
	return "", 0
}

// EncodeKey writes a private key as PKCS#8, with a passphrase unless that is nil.
func EncodeKey(key crypto.Signer, encoding string, passphrase *string) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	kind := "PRIVATE KEY"
	if passphrase != nil {
		if der, err = encrypt(der, *passphrase); err != nil {
			return nil, err
		}
		kind = "ENCRYPTED " + kind
	}
	if encoding == DER {
		return der, nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), nil
}

// LoadKey reads a private key, with a passphrase unless that is nil, and tells its encoding.
func LoadKey(b []byte, passphrase *string) (key crypto.Signer, encoding string, err error) {
	if !bytes.Contains(b, []byte(pemBegin)) {
		key, err := parseKey(b, passphrase)
		if errors.Is(err, ErrForm) {
			err = formError("Priv", "Could not deserialize binary data, neither as DER nor PKCS#12.")
		}
		return key, DER, err
	}
	wrong := formError("Priv", "Could not load PEM-encoded private key")
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		if !strings.HasSuffix(block.Type, "PRIVATE KEY") {
			continue
		}
		if block.Headers["DEK-Info"] != "" {
			return nil, "", formError("Priv", "Private keys with the old encryption of PEM are not supported on "+
				"this minion")
		}
		key, err := parseKey(block.Bytes, passphrase)
		if errors.Is(err, ErrForm) {
			err = wrong
		}
		return key, PEM, err
	}
	return nil, "", wrong
}

// parseKey reads a key in one of the forms of DER.
func parseKey(der []byte, passphrase *string) (crypto.Signer, error) {
	plain, encrypted, err := decrypt(der, passphrase)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(plain)
	if err != nil {
		if k, errRSA := x509.ParsePKCS1PrivateKey(plain); errRSA == nil {
			key, err = k, nil
		} else if k, errEC := x509.ParseECPrivateKey(plain); errEC == nil {
			key, err = k, nil
		}
	}
	signer, ok := key.(crypto.Signer)
	switch {
	case err != nil && encrypted:
		return nil, ErrPassword
	case err != nil || !ok:
		return nil, ErrForm
	case passphrase != nil && !encrypted:
		return nil, ErrSuperfluous
	}
	return signer, nil
}

// SameKey tells whether two public keys are one.
func SameKey(a, b any) bool {
	k, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.Equal(b)
}

// LoadPublic reads a public key.
func LoadPublic(b []byte) (any, error) {
	der, isPEM := unarmoured(b, "PUBLIC KEY")
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		if k, errRSA := x509.ParsePKCS1PublicKey(der); errRSA == nil {
			return k, nil
		}
		if isPEM {
			return nil, formError("Pub", "Could not load PEM-encoded public key.")
		}
		return nil, formError("Pub", "Could not load DER-encoded public key.")
	}
	return key, nil
}

// EncodePublic writes a public key as PEM.
func EncodePublic(key any) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// unarmoured are the bytes of a PEM text of a kind, or bytes as they are.
func unarmoured(b []byte, kind string) (der []byte, isPEM bool) {
	if !bytes.Contains(b, []byte(pemBegin)) {
		return b, false
	}
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, kind) {
			return block.Bytes, true
		}
	}
	return nil, true
}

// armoured is DER as the encoding wants it.
func armoured(der []byte, kind, encoding string) []byte {
	if encoding == DER {
		return der
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// LoadCertificates reads a certificate and, of a PEM text, those after it, and tells the encoding.
func LoadCertificates(b []byte) (certs []*x509.Certificate, encoding string, err error) {
	if !bytes.Contains(b, []byte(pemBegin)) {
		cert, err := x509.ParseCertificate(b)
		if err != nil {
			return nil, "", formError("Cert", "Could not deserialize binary data, neither as DER nor PKCS#7, "+
				"PKCS#12.")
		}
		return []*x509.Certificate{cert}, DER, nil
	}
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		cert, err := x509.ParseCertificate(block.Bytes)
		if err == nil {
			certs = append(certs, cert)
		} else if len(certs) == 0 {
			break
		}
	}
	if len(certs) == 0 {
		return nil, "", formError("Cert", "Could not load PEM-encoded certificate.")
	}
	return certs, PEM, nil
}

// EncodeCertificates writes certificates one after the other.
func EncodeCertificates(certs []*x509.Certificate, encoding string) []byte {
	var out [][]byte
	for _, cert := range certs {
		out = append(out, armoured(cert.Raw, "CERTIFICATE", encoding))
	}
	return bytes.Join(out, []byte("\n"))
}

// LoadRequest reads a request for a certificate.
func LoadRequest(b []byte) (*x509.CertificateRequest, string, error) {
	der, isPEM := unarmoured(b, "CERTIFICATE REQUEST")
	encoding := map[bool]string{true: PEM, false: DER}[isPEM]
	req, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return nil, "", formError("CSR", "Could not load "+strings.ToUpper(encoding)+
			"-encoded certificate signing request.")
	}
	return req, encoding, nil
}

// EncodeRequest writes a request.
func EncodeRequest(der []byte, encoding string) []byte {
	return armoured(der, "CERTIFICATE REQUEST", encoding)
}

// LoadRevocations reads a list of revoked certificates.
func LoadRevocations(b []byte) (*x509.RevocationList, string, error) {
	der, isPEM := unarmoured(b, "X509 CRL")
	encoding := map[bool]string{true: PEM, false: DER}[isPEM]
	list, err := x509.ParseRevocationList(der)
	if err != nil {
		return nil, "", formError("CRL", "Could not load "+strings.ToUpper(encoding)+
			"-encoded certificate revocation list.")
	}
	return list, encoding, nil
}

// EncodeRevocations writes a list of revoked certificates.
func EncodeRevocations(der []byte, encoding string) []byte {
	return armoured(der, "X509 CRL", encoding)
}
