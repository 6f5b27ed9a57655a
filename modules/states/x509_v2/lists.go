package x509_v2

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"brine/modules/execution/x509_v2"
	"brine/modules/host/pki"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
)

type crlArgs struct {
	Name       string       `arg:"name"`
	Key        any          `arg:"signing_private_key"`
	Revoked    any          `arg:"revoked"`
	Remaining  any          `arg:"days_remaining=None"`
	Cert       any          `arg:"signing_cert=None"`
	KeyPass    any          `arg:"signing_private_key_passphrase=None"`
	Expired    bool         `arg:"include_expired=False"`
	Days       any          `arg:"days_valid=None"`
	Digest     string       `arg:"digest=sha256"`
	Encoding   string       `arg:"encoding=pem"`
	Extensions *payload.Map `arg:"extensions=None"`
	KW         *payload.Map `arg:"**kwargs"`
}

// listCheck is a list of revoked certificates on its way.
type listCheck struct {
	crlArgs
	*managed
	days    int64
	auto    bool // the number of the list counts up
	current *pki.List
}

func crl(c *states.Call, a crlArgs) (states.Plan, error) {
	file, others := splitArgs(a.KW)
	others.Delete("text")
	if err := noOthers(others); err != nil {
		return states.Plan{}, err
	}
	if a.Remaining == nil {
		a.Remaining = int64(30)
	}
	days, err := loader.ToInt(a.Remaining)
	if err != nil {
		return states.Plan{}, err
	}
	if a.Encoding != pki.PEM && a.Encoding != pki.DER {
		return states.Wrong("The encoding '" + a.Encoding + "' is not supported on this minion"), nil
	}
	k := &listCheck{crlArgs: a, days: days, managed: &managed{c: c, name: a.Name,
		noun: "The certificate revocation list", encoding: a.Encoding, file: file}}
	k.Extensions = a.Extensions.Clone()
	if k.auto = k.Extensions.Value("cRLNumber") == any("auto"); k.auto {
		k.Extensions.Delete("cRLNumber")
	}
	k.look, k.make = k.compare, k.create
	return k.plan()
}

func (k *listCheck) build(extensions *payload.Map) (*pki.Revocations, error) {
	return x509_v2.CRL{Key: k.Key, KeyPass: k.KeyPass, Cert: k.Cert, Revoked: k.Revoked, Expired: k.Expired,
		Days:   k.Days,
		Digest: k.Digest, Extensions: extensions}.Build()
}

// compare compares the list in a file with the one that would be made.
func (k *listCheck) compare(path string) (replace bool, err error) {
	b, err := pki.Source(path)
	if err != nil {
		return false, loader.ExecErr("%v", err)
	}
	list, encoding, err := pki.LoadRevocations(b)
	if err != nil {
		return true, nil // it is replaced
	}
	k.current, k.exists = list, len(list.RevokedCertificateEntries) > 0 // one without entries is none to Salt
	if !pki.SignedWith(list.SignatureAlgorithm, k.Digest) {
		k.changes.Set("digest", k.Digest)
	}
	if encoding != k.Encoding {
		k.changes.Set("encoding", k.Encoding)
	}
	if k.days != 0 && list.NextUpdate.Before(time.Now().Add(time.Duration(k.days)*24*time.Hour)) {
		k.changes.Set("expiration", true)
	}
	wanted, err := k.build(k.Extensions)
	if err != nil {
		return false, err
	}
	if err := named(k.changes, "issuer_name", list.RawIssuer, wanted.Issuer); err != nil {
		return false, err
	}
	if !pki.ListSignedBy(list, wanted.SigningKey.Public()) {
		k.changes.Set("public_key", true)
	}
	k.compareEntries(wanted)
	current := slices.Clone(list.Extensions)
	if k.auto {
		for i := range current {
			if current[i].Id.Equal(pki.OID("cRLNumber")) {
				current = slices.Delete(current, i, i+1)
				break
			}
		}
	}
	extended(k.changes, current, wanted.Extensions)
	return false, nil
}

// compareEntries tells of revoked certificates that are new, other or gone.
func (k *listCheck) compareEntries(wanted *pki.Revocations) {
	var added, changed, removed []string
	for _, w := range wanted.Revoked {
		i := slices.IndexFunc(k.current.RevokedCertificateEntries, func(e pki.ListEntry) bool {
			return e.SerialNumber.Cmp(w.Serial) == 0
		})
		if i < 0 {
			added = append(added, digits(w.Serial))
			continue
		}
		more, other, less := pki.Compared(k.current.RevokedCertificateEntries[i].Extensions, w.Extensions)
		if len(more)+len(other)+len(less) > 0 {
			changed = append(changed, digits(w.Serial))
		}
	}
	for _, e := range k.current.RevokedCertificateEntries {
		if !slices.ContainsFunc(wanted.Revoked, func(w pki.Revoked) bool { return w.Serial.Cmp(e.SerialNumber) == 0 }) {
			removed = append(removed, digits(e.SerialNumber))
		}
	}
	if len(added)+len(changed)+len(removed) > 0 {
		k.changes.Set("revocations", payload.M("added", payload.AnyList(added), "changed", payload.AnyList(changed),
			"removed",
			payload.AnyList(removed)))
	}
}

// digits is a serial number as Salt shows it: "0A:1B".
func digits(n *big.Int) string {
	text := fmt.Sprintf("%X", n)
	if len(text)%2 != 0 {
		text = "0" + text
	}
	var pairs []string
	for ; text != ""; text = text[2:] {
		pairs = append(pairs, text[:2])
	}
	return strings.Join(pairs, ":")
}

// create makes the list, or writes the one that is there in another form.
func (k *listCheck) create() ([]byte, error) {
	if k.current != nil && onlyOf(k.changes, "encoding") {
		return pki.EncodeRevocations(k.current.Raw, k.Encoding), nil
	}
	extensions := k.Extensions.Clone()
	if k.auto {
		next := big.NewInt(1)
		if k.current != nil && k.current.Number != nil {
			next.Add(next, k.current.Number)
		}
		extensions.Set("cRLNumber", next)
	}
	r, err := k.build(extensions)
	if err != nil {
		return nil, err
	}
	der, err := r.Sign()
	if err != nil {
		return nil, loader.InvocErr("%v", err)
	}
	return pki.EncodeRevocations(der, k.Encoding), nil
}
