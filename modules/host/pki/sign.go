package pki

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// algorithm is how a key signs with a digest.
func algorithm(key crypto.Signer, digest string) (x509.SignatureAlgorithm, error) {
	kind, _ := KeyType(key)
	if kind == "ed25519" {
		return x509.PureEd25519, nil
	}
	found, ok := map[string]x509.SignatureAlgorithm{"rsa sha1": x509.SHA1WithRSA, "rsa sha256": x509.SHA256WithRSA,
		"rsa sha384": x509.SHA384WithRSA, "rsa sha512": x509.SHA512WithRSA, "ec sha1": x509.ECDSAWithSHA1,
		"ec sha256": x509.ECDSAWithSHA256, "ec sha384": x509.ECDSAWithSHA384,
		"ec sha512": x509.ECDSAWithSHA512}[kind+" "+strings.ToLower(digest)]
	if !ok {
		return 0, fmt.Errorf("The digest '%s' is not supported on this minion", digest)
	}
	return found, nil
}

// SignedWith tells whether something is signed with a digest; an algorithm without one is signed with any.
func SignedWith(a x509.SignatureAlgorithm, digest string) bool {
	if a == x509.PureEd25519 || a == x509.UnknownSignatureAlgorithm {
		return true
	}
	return strings.Contains(a.String(), strings.ToUpper(digest)) // "SHA256-RSA", "ECDSA-SHA256"
}

// Serial is a random serial number.
func Serial() *big.Int {
	n, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 159)) // it never fails
	return n
}

// Certificate is what a certificate is made of.
type Certificate struct {
	Serial            *big.Int
	Subject, Issuer   []byte // DER
	Public            any
	Before, After     time.Time
	Extensions        []pkix.Extension
	SigningKey        crypto.Signer
	Digest            string
	SigningPublicCopy any // nil: that of SigningKey
}

// Sign makes the certificate.
func (c *Certificate) Sign() (*x509.Certificate, error) {
	algo, err := algorithm(c.SigningKey, c.Digest)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: c.Serial, RawSubject: c.Subject, NotBefore: c.Before, NotAfter: c.After,
		ExtraExtensions: c.Extensions, SignatureAlgorithm: algo}
	parent := &x509.Certificate{RawSubject: c.Issuer, PublicKey: c.SigningKey.Public()}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, c.Public, c.SigningKey)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// Request makes a request for a certificate.
func Request(subject []byte, extensions []pkix.Extension, key crypto.Signer, digest string) ([]byte, error) {
	algo, err := algorithm(key, digest)
	if err != nil {
		return nil, err
	}
	return x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{RawSubject: subject,
		ExtraExtensions:    extensions,
		SignatureAlgorithm: algo}, key)
}

// Revoked is one entry of a list of revoked certificates.
type Revoked struct {
	Serial     *big.Int
	Time       time.Time
	Extensions []pkix.Extension `asn1:"optional"`
}

// Revocations is what a list of revoked certificates is made of.
type Revocations struct {
	Issuer            []byte
	Updated, NextTime time.Time
	Revoked           []Revoked
	Extensions        []pkix.Extension
	SigningKey        crypto.Signer
	Digest            string
}

// tbsList is the part of a list that is signed (RFC 5280, 5.1).
type tbsList struct {
	Version    int
	Algorithm  asn1.RawValue
	Issuer     asn1.RawValue
	ThisUpdate time.Time
	NextUpdate time.Time
	Revoked    []Revoked        `asn1:"optional,omitempty"`
	Extensions []pkix.Extension `asn1:"tag:0,optional,explicit,omitempty"`
}

type signedList struct {
	TBS       asn1.RawValue
	Algorithm asn1.RawValue
	Signature asn1.BitString
}

// Sign makes the list.
func (r *Revocations) Sign() ([]byte, error) {
	if len(r.Issuer) == 0 {
		return nil, errors.New("A CRL must have an issuer name")
	}
	algo, id, err := r.identifier()
	if err != nil {
		return nil, err
	}
	tbs, err := asn1.Marshal(tbsList{Version: 1, Algorithm: asn1.RawValue{FullBytes: id},
		Issuer:     asn1.RawValue{FullBytes: r.Issuer},
		ThisUpdate: r.Updated.UTC(), NextUpdate: r.NextTime.UTC(), Revoked: r.Revoked, Extensions: r.Extensions})
	if err != nil {
		return nil, err
	}
	hash := map[x509.SignatureAlgorithm]crypto.Hash{x509.SHA1WithRSA: crypto.SHA1, x509.ECDSAWithSHA1: crypto.SHA1,
		x509.SHA256WithRSA: crypto.SHA256, x509.ECDSAWithSHA256: crypto.SHA256, x509.SHA384WithRSA: crypto.SHA384,
		x509.ECDSAWithSHA384: crypto.SHA384, x509.SHA512WithRSA: crypto.SHA512,
		x509.ECDSAWithSHA512: crypto.SHA512}[algo]
	sum := tbs
	if hash != 0 {
		h := hash.New()
		h.Write(tbs)
		sum = h.Sum(nil)
	}
	sig, err := r.SigningKey.Sign(rand.Reader, sum, hash)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(signedList{asn1.RawValue{FullBytes: tbs}, asn1.RawValue{FullBytes: id},
		asn1.BitString{Bytes: sig, BitLength: len(sig) * 8}})
}

// identifier is the encoding of the algorithm: that of a certificate that the key signs.
func (r *Revocations) identifier() (x509.SignatureAlgorithm, []byte, error) {
	algo, err := algorithm(r.SigningKey, r.Digest)
	if err != nil {
		return 0, nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{SignatureAlgorithm: algo},
		r.SigningKey)
	if err != nil {
		return 0, nil, err
	}
	var parts []asn1.RawValue
	if _, err := asn1.Unmarshal(der, &parts); err != nil || len(parts) != 3 {
		return 0, nil, errors.New("pki: an unknown form of a request")
	}
	return algo, parts[1].FullBytes, nil
}

// KeyID is the hash of a public key that certificates name it by.
func KeyID(public any) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &info); err != nil {
		return nil, err
	}
	sum := sha1.Sum(info.Key.Bytes)
	return sum[:], nil
}

// SignedBy tells whether a certificate is signed with the key of a public one.
func SignedBy(cert *x509.Certificate, public any) bool {
	return (&x509.Certificate{PublicKey: public}).CheckSignature(cert.SignatureAlgorithm, cert.RawTBSCertificate,
		cert.Signature) == nil
}

// ListSignedBy is SignedBy for a list of revoked certificates.
func ListSignedBy(list *x509.RevocationList, public any) bool {
	return (&x509.Certificate{PublicKey: public}).CheckSignature(list.SignatureAlgorithm, list.RawTBSRevocationList,
		list.Signature) == nil
}

// SameName tells whether two encodings are of one name, whatever the types of their texts.
func SameName(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	n, errN := NameFrom(a)
	m, errM := NameFrom(b)
	return errN == nil && errM == nil && n.String() == m.String()
}
