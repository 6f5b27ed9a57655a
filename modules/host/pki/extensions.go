package pki

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
)

// kind is an extension of certificates, requests or lists.
type kind struct {
	name  string // Salt's
	shown string // that of the Python library, in changes
	oid   asn1.ObjectIdentifier
}

// kinds are the extensions that have a name, in the order in which Salt adds them.
func kinds() []kind {
	ce := func(n int) asn1.ObjectIdentifier { return asn1.ObjectIdentifier{2, 5, 29, n} }
	return []kind{
		{"basicConstraints", "basicConstraints", ce(19)}, {"keyUsage", "keyUsage", ce(15)},
		{"extendedKeyUsage", "extendedKeyUsage", ce(37)}, {"subjectKeyIdentifier", "subjectKeyIdentifier", ce(14)},
		{"authorityKeyIdentifier", "authorityKeyIdentifier", ce(35)}, {"issuerAltName", "issuerAltName", ce(18)},
		{"authorityInfoAccess", "authorityInfoAccess", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 1}},
		{"subjectAltName", "subjectAltName", ce(17)}, {"crlDistributionPoints", "cRLDistributionPoints", ce(31)},
		{"certificatePolicies", "certificatePolicies", ce(32)}, {"policyConstraints", "policyConstraints", ce(36)},
		{"inhibitAnyPolicy", "inhibitAnyPolicy", ce(54)}, {"nameConstraints", "nameConstraints", ce(30)},
		{"noCheck", "OCSPNoCheck", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5}},
		{"tlsfeature", "TLSFeature", asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}},
		{"cRLNumber", "cRLNumber", ce(20)}, {"freshestCRL", "freshestCRL", ce(46)},
		{"CRLReason", "cRLReason", ce(21)}, {"invalidityDate", "invalidityDate", ce(24)},
	}
}

// ForCertificates are the names of extensions of certificates, in order.
func ForCertificates() []string {
	var out []string
	for _, k := range kinds()[:15] {
		out = append(out, k.name)
	}
	return out
}

// OID is the number of an extension; nil: it has no name here.
func OID(name string) asn1.ObjectIdentifier {
	for _, k := range kinds() {
		if k.name == name {
			return k.oid
		}
	}
	return nil
}

func extension(name string, critical bool, value any) (pkix.Extension, error) {
	der, err := asn1.Marshal(value)
	return pkix.Extension{Id: OID(name), Critical: critical, Value: der}, err
}

// BasicConstraints says whether a certificate is an authority, and how long the chain below may be; -1: any length.
func BasicConstraints(critical, ca bool, pathlen int64) (pkix.Extension, error) {
	if pathlen >= 0 && !ca {
		return pkix.Extension{}, errors.New("path_length must be None when ca is False")
	}
	return extension("basicConstraints", critical, struct {
		CA      bool `asn1:"optional"`
		Pathlen int  `asn1:"optional,default:-1"`
	}{ca, int(pathlen)})
}

// usages are the bits of a key's usage.
var usages = []string{"digitalSignature", "nonRepudiation", "keyEncipherment", "dataEncipherment", "keyAgreement",
	"keyCertSign",
	"cRLSign", "encipherOnly", "decipherOnly"}

// KeyUsage says what a key may be used for; has tells whether a word is among those given.
func KeyUsage(critical bool, has func(word string) bool) (pkix.Extension, error) {
	if !has("keyAgreement") && (has("encipherOnly") || has("decipherOnly")) {
		return pkix.Extension{}, errors.New("encipher_only and decipher_only can only be true when key_agreement is " +
			"true")
	}
	b := make([]byte, 2)
	last := 0
	for i, word := range usages {
		if has(word) {
			b[i/8] |= 0x80 >> (i % 8)
			last = i + 1
		}
	}
	return extension("keyUsage", critical, asn1.BitString{Bytes: b[:(last+7)/8], BitLength: last})
}

// purposes are extended usages of keys by their names.
func purposes() map[string]string {
	return map[string]string{"serverAuth": "1.3.6.1.5.5.7.3.1", "clientAuth": "1.3.6.1.5.5.7.3.2",
		"codeSigning": "1.3.6.1.5.5.7.3.3", "emailProtection": "1.3.6.1.5.5.7.3.4", "timeStamping": "1.3.6.1.5.5.7.3.8",
		"OCSPSigning": "1.3.6.1.5.5.7.3.9", "msSmartcardLogin": "1.3.6.1.4.1.311.20.2.2",
		"pkInitKDC": "1.3.6.1.5.2.3.5",
		"ipsecIKE":  "1.3.6.1.5.5.7.3.17", "msCodeInd": "1.3.6.1.4.1.311.2.1.21", "msCodeCom": "1.3.6.1.4.1.311.2.1.22",
		"msCTLSign": "1.3.6.1.4.1.311.10.3.1", "msEFS": "1.3.6.1.4.1.311.10.3.4"}
}

// ExtendedKeyUsage says what a key may be used for, by names or numbers.
func ExtendedKeyUsage(critical bool, names []string) (pkix.Extension, error) {
	oids := []asn1.ObjectIdentifier{}
	for _, name := range names {
		if number, ok := purposes()[name]; ok {
			name = number
		}
		oid, err := ParseOID(name)
		if err != nil {
			return pkix.Extension{}, err
		}
		oids = append(oids, oid)
	}
	return extension("extendedKeyUsage", critical, oids)
}

// SubjectKeyIdentifier names a key by its hash; text is "hash" or hexadecimal digits.
func SubjectKeyIdentifier(text string, public any) (pkix.Extension, error) {
	var id []byte
	var err error
	if text == "hash" {
		id, err = KeyID(public)
	} else if id, err = hex.DecodeString(strings.ReplaceAll(text, ":", "")); err != nil {
		err = errors.New("Value must be precomputed hash")
	}
	if err != nil {
		return pkix.Extension{}, err
	}
	return extension("subjectKeyIdentifier", false, id)
}

// AuthorityKeyIdentifier names the key of the authority: by the identifier in its certificate, nil where it signs
// itself,
// or by the hash of its key; keyid and issuer are "", "always" or another word.
func AuthorityKeyIdentifier(keyid, issuer string, ca *x509.Certificate, caPublic any) (pkix.Extension, error) {
	var id []byte
	if keyid != "" {
		switch {
		case ca != nil && len(ca.SubjectKeyId) > 0:
			id = ca.SubjectKeyId
		case ca != nil:
			id, _ = KeyID(ca.PublicKey)
		default:
			id, _ = KeyID(caPublic)
		}
		if keyid == "always" && id == nil {
			return pkix.Extension{}, errors.New("Could not retrieve authorityKeyIdentifier keyid, but it was set to " +
				"always")
		}
	}
	aki := struct {
		ID     []byte          `asn1:"optional,tag:0"`
		Issuer []asn1.RawValue `asn1:"optional,tag:1,omitempty"`
		Serial *big.Int        `asn1:"optional,tag:2"`
	}{ID: id}
	if issuer == "always" || issuer != "" && id == nil {
		if ca == nil && issuer == "always" {
			return pkix.Extension{}, errors.New("Could not add authority_cert_issuer and " +
				"authority_cert_serial_number, but was " +
				"set to always.")
		}
		if ca != nil {
			aki.Issuer = []asn1.RawValue{{Class: asn1.ClassContextSpecific, Tag: 4, IsCompound: true,
				Bytes: ca.RawIssuer}}
			aki.Serial = ca.SerialNumber
		}
	}
	if aki.Serial != nil {
		return extension("authorityKeyIdentifier", false, aki)
	}
	return extension("authorityKeyIdentifier", false, struct {
		ID     []byte          `asn1:"optional,tag:0"`
		Issuer []asn1.RawValue `asn1:"optional,tag:1,omitempty"`
	}{id, aki.Issuer})
}

// General is a general name: a type such as dns, ip, uri, email, rid or dirname, and its value.
type General struct{ Type, Value string }

func (g General) der() (asn1.RawValue, error) {
	raw := asn1.RawValue{Class: asn1.ClassContextSpecific, Bytes: []byte(g.Value)}
	switch strings.ToLower(g.Type) {
	case "email":
		raw.Tag = 1
	case "dns":
		raw.Tag = 2
	case "uri":
		raw.Tag = 6
	case "dirname":
		name, err := ParseName(g.Value)
		if err != nil {
			return raw, err
		}
		der, err := name.DER()
		return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 4, IsCompound: true, Bytes: der}, err
	case "ip":
		b, err := address(g.Value)
		return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 7, Bytes: b}, err
	case "rid":
		oid, err := ParseOID(g.Value)
		if err != nil {
			return raw, err
		}
		der, err := asn1.Marshal(oid)
		if err != nil {
			return raw, err
		}
		return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 8, Bytes: der[2:]}, nil
	case "othername":
		return raw, errors.New("otherName is currently not implemented")
	default:
		return raw, fmt.Errorf("GeneralName type %s is invalid", strings.ToLower(g.Type))
	}
	for _, r := range g.Value {
		if r > 0x7f {
			return raw, fmt.Errorf("The name '%s' has characters that are not ASCII: give it as ACE (xn--...)", g.Value)
		}
	}
	return raw, nil
}

func address(text string) ([]byte, error) {
	ip := net.ParseIP(text)
	if v4 := ip.To4(); v4 != nil {
		return v4, nil
	}
	if ip != nil {
		return ip, nil
	}
	_, network, err := net.ParseCIDR(text)
	if err != nil {
		return nil, fmt.Errorf("Provided value %s does not seem to be an IP address or network range.", text)
	}
	return append(slices.Clone([]byte(network.IP)), network.Mask...), nil
}

func generals(names []General) ([]asn1.RawValue, error) {
	out := []asn1.RawValue{}
	for _, name := range names {
		raw, err := name.der()
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// AltName gives further names: name is subjectAltName or issuerAltName.
func AltName(name string, critical bool, names []General) (pkix.Extension, error) {
	raw, err := generals(names)
	if err != nil {
		return pkix.Extension{}, err
	}
	return extension(name, critical, raw)
}

// Access is where something about an authority is.
type Access struct {
	Method string // OCSP, caIssuers, caRepository, or a number
	Where  General
}

// AuthorityInfoAccess says where things about the authority are.
func AuthorityInfoAccess(list []Access) (pkix.Extension, error) {
	type description struct {
		Method asn1.ObjectIdentifier
		Where  asn1.RawValue
	}
	out := []description{}
	for _, a := range list {
		number, ok := map[string]string{"OCSP": "1.3.6.1.5.5.7.48.1", "caIssuers": "1.3.6.1.5.5.7.48.2",
			"caRepository": "1.3.6.1.5.5.7.48.5"}[a.Method]
		if !ok {
			number = a.Method
		}
		oid, err := ParseOID(number)
		if err != nil {
			return pkix.Extension{}, errors.New("Unknown access OID: " + a.Method)
		}
		raw, err := a.Where.der()
		if err != nil {
			return pkix.Extension{}, err
		}
		out = append(out, description{oid, raw})
	}
	return extension("authorityInfoAccess", false, out)
}

// DistributionPoints says where lists of revoked certificates are: name is crlDistributionPoints or freshestCRL; each
// point is a list of names.
func DistributionPoints(name string, critical bool, points [][]General) (pkix.Extension, error) {
	type pointName struct {
		Full []asn1.RawValue `asn1:"optional,tag:0"`
	}
	type point struct {
		Name pointName `asn1:"optional,tag:0"`
	}
	out := []point{}
	for _, names := range points {
		raw, err := generals(names)
		if err != nil {
			return pkix.Extension{}, err
		}
		out = append(out, point{pointName{raw}})
	}
	return extension(name, critical, out)
}

// Policies names policies by their numbers.
func Policies(critical bool, numbers []string) (pkix.Extension, error) {
	type policy struct{ ID asn1.ObjectIdentifier }
	out := []policy{}
	for _, number := range numbers {
		oid, err := ParseOID(number)
		if err != nil {
			return pkix.Extension{}, err
		}
		out = append(out, policy{oid})
	}
	return extension("certificatePolicies", critical, out)
}

// NoCheck says that nobody is to ask whether the certificate is revoked.
func NoCheck(critical bool) (pkix.Extension, error) {
	return pkix.Extension{Id: OID("noCheck"), Critical: critical, Value: asn1.NullBytes}, nil
}

// TLSFeature asks servers for features of TLS.
func TLSFeature(critical bool, names []string) (pkix.Extension, error) {
	out := []int{}
	for _, name := range names {
		n, ok := map[string]int{"status_request": 5, "status_request_v2": 17}[name]
		if !ok {
			return pkix.Extension{}, errors.New(name)
		}
		out = append(out, n)
	}
	return extension("tlsfeature", critical, out)
}

// InhibitAnyPolicy says after how many certificates no policy stands for any.
func InhibitAnyPolicy(critical bool, n int64) (pkix.Extension, error) {
	return extension("inhibitAnyPolicy", critical, n)
}

// Number is the number of a list of revoked certificates.
func Number(n *big.Int) (pkix.Extension, error) { return extension("cRLNumber", false, n) }

// reasons are why a certificate is revoked, with their numbers.
func reasons() map[string]int {
	return map[string]int{"unspecified": 0, "keyCompromise": 1, "cACompromise": 2, "affiliationChanged": 3,
		"superseded":           4,
		"cessationOfOperation": 5, "certificateHold": 6, "removeFromCRL": 8, "privilegeWithdrawn": 9,
		"aACompromise": 10}
}

// Reason is why a certificate is revoked.
func Reason(critical bool, name string) (pkix.Extension, error) {
	n, ok := reasons()[name]
	if !ok {
		return pkix.Extension{}, fmt.Errorf("'%s' is not a valid ReasonFlags", name)
	}
	return extension("CRLReason", critical, asn1.Enumerated(n))
}

// Compared are the names of extensions that are new, other or gone.
func Compared(current, wanted []pkix.Extension) (added, changed, removed []string) {
	find := func(list []pkix.Extension, oid asn1.ObjectIdentifier) *pkix.Extension {
		for i := range list {
			if list[i].Id.Equal(oid) {
				return &list[i]
			}
		}
		return nil
	}
	for _, w := range wanted {
		switch c := find(current, w.Id); {
		case c == nil:
			added = append(added, shown(w.Id))
		case c.Critical != w.Critical || !bytes.Equal(c.Value, w.Value):
			changed = append(changed, shown(w.Id))
		}
	}
	for _, c := range current {
		if find(wanted, c.Id) == nil {
			removed = append(removed, shown(c.Id))
		}
	}
	return added, changed, removed
}

func shown(oid asn1.ObjectIdentifier) string {
	for _, k := range kinds() {
		if k.oid.Equal(oid) {
			return k.shown
		}
	}
	return oid.String()
}
