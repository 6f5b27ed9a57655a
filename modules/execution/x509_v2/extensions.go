package x509_v2

import (
	"crypto/x509/pkix"
	"slices"
	"strings"

	"brine/modules/host/pki"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// around is what an extension may depend on.
type around struct {
	public   any       // the key of the certificate
	ca       *pki.Cert // nil: it signs itself
	caPublic any
}

// extensions are those of the arguments that are among the names, in that order.
func extensions(args *payload.Map, names []string, w around) ([]pkix.Extension, error) {
	var out []pkix.Extension
	for _, name := range names {
		v, ok := args.Get(name)
		if !ok || v == nil {
			continue
		}
		e, err := w.extension(name, v)
		if err != nil {
			return nil, told(err)
		}
		out = append(out, e)
	}
	return out, nil
}

// conf is a value as OpenSSL writes it: "critical, CA:true, pathlen:0".
type conf struct {
	critical bool
	words    []pki.General // a word alone has no value
}

// confOf reads a value: a text, a list of texts and maps, or a map.
func confOf(v any) conf {
	var c conf
	add := func(text string) {
		name, value, _ := strings.Cut(text, ":")
		if name = strings.TrimSpace(name); name == "critical" {
			c.critical = true
		} else if name != "" {
			c.words = append(c.words, pki.General{Type: name, Value: strings.TrimSpace(value)})
		}
	}
	switch x := v.(type) {
	case []any:
		for _, item := range x {
			if m, ok := item.(*payload.Map); ok {
				inner := confOf(m)
				c.critical = c.critical || inner.critical
				c.words = append(c.words, inner.words...)
			} else {
				add(python.Str(item))
			}
		}
	case *payload.Map:
		for key, value := range x.All() {
			if key == any("critical") {
				c.critical = python.Truth(value)
			} else {
				c.words = append(c.words, pki.General{Type: python.Str(key), Value: python.Str(value)})
			}
		}
	default:
		text := strings.TrimSpace(python.Str(v))
		if rest, ok := strings.CutPrefix(text, "critical"); ok {
			c.critical, text = true, strings.TrimSpace(strings.TrimLeft(rest, ","))
		}
		for part := range strings.SplitSeq(text, ",") {
			add(part)
		}
	}
	return c
}

// value is that of a word, "" where it has none; ok is false where there is no such word.
func (c conf) value(name string) (string, bool) {
	for _, w := range c.words {
		if strings.EqualFold(w.Type, name) {
			return w.Value, true
		}
	}
	return "", false
}

func (c conf) names() []string {
	var out []string
	for _, w := range c.words {
		name := w.Type
		if w.Value != "" {
			name += ":" + w.Value
		}
		out = append(out, name)
	}
	return out
}

func (w around) extension(name string, v any) (pkix.Extension, error) {
	c := confOf(v)
	switch name {
	case "basicConstraints":
		return basicConstraints(c)
	case "keyUsage":
		return pki.KeyUsage(c.critical, func(word string) bool { _, ok := c.value(word); return ok })
	case "extendedKeyUsage":
		return pki.ExtendedKeyUsage(c.critical, c.names())
	case "subjectKeyIdentifier":
		if c.critical {
			return pkix.Extension{}, loader.InvocErr("%s %v", name, errCritical)
		}
		return pki.SubjectKeyIdentifier(python.Str(v), w.public)
	case "authorityKeyIdentifier":
		if c.critical {
			return pkix.Extension{}, loader.InvocErr("%s %v", name, errCritical)
		}
		return pki.AuthorityKeyIdentifier(word(c, "keyid"), word(c, "issuer"), w.ca, w.caPublic)
	case "subjectAltName", "issuerAltName":
		return w.altName(name, c)
	case "authorityInfoAccess":
		return infoAccess(v)
	case "crlDistributionPoints", "freshestCRL":
		return distributionPoints(name, v, c)
	case "certificatePolicies":
		return policies(v, c)
	case "inhibitAnyPolicy":
		text, ok := c.value("value")
		if !ok && len(c.words) > 0 {
			text = c.words[0].Type
		}
		n, err := loader.ToInt(text)
		if err != nil {
			return pkix.Extension{}, err
		}
		return pki.InhibitAnyPolicy(c.critical, n)
	case "noCheck":
		return pki.NoCheck(strings.Contains(python.Str(v), "critical"))
	case "tlsfeature":
		return pki.TLSFeature(c.critical, c.names())
	case "cRLNumber":
		n, err := serial(v)
		if err != nil {
			return pkix.Extension{}, loader.InvocErr("cRLNumber must be an integer and must be marked as non-critical")
		}
		return pki.Number(n)
	case "CRLReason":
		return pki.Reason(c.critical, strings.Join(c.names(), ","))
	}
	return pkix.Extension{}, loader.ExecErr("The extension %s is not supported on this minion", name)
}

// word is the value of a word; one alone stands for itself.
func word(c conf, name string) string {
	v, ok := c.value(name)
	if ok && v == "" {
		return "present"
	}
	return v
}

func basicConstraints(c conf) (pkix.Extension, error) {
	ca, ok := c.value("ca")
	if !ok {
		return pkix.Extension{}, loader.InvocErr("Undefined required key for basicConstraints: 'ca'")
	}
	pathlen := int64(-1)
	if text, ok := c.value("pathlen"); ok && text != "None" {
		n, err := loader.ToInt(text)
		if err != nil {
			return pkix.Extension{}, err
		}
		pathlen = n
	}
	return pki.BasicConstraints(c.critical, strings.EqualFold(ca, "true"), pathlen)
}

// altName are further names; "issuer:copy" are those of the authority's subject.
func (w around) altName(name string, c conf) (pkix.Extension, error) {
	if v, ok := c.value("issuer"); ok && v == "copy" {
		if w.ca == nil {
			return pkix.Extension{}, loader.ExecErr("Need CA certificate to copy to issuerAltName")
		}
		i := slices.IndexFunc(w.ca.Extensions,
			func(e pkix.Extension) bool { return e.Id.Equal(pki.OID("subjectAltName")) })
		if i < 0 || len(c.words) > 1 {
			return pkix.Extension{}, loader.ExecErr("No subjectAltName extension was found in the CA certificate, " +
				"or more names " +
				"are given beside issuer:copy")
		}
		return pkix.Extension{Id: pki.OID(name), Critical: c.critical, Value: w.ca.Extensions[i].Value}, nil
	}
	return pki.AltName(name, c.critical, c.words)
}

// general reads "type:value".
func general(text string) pki.General {
	kind, value, _ := strings.Cut(text, ":")
	return pki.General{Type: strings.TrimSpace(kind), Value: strings.TrimSpace(value)}
}

// infoAccess reads "OCSP;URI:http://..., caIssuers;URI:...", or maps.
func infoAccess(v any) (pkix.Extension, error) {
	var list []pki.Access
	var add func(v any)
	add = func(v any) {
		switch x := v.(type) {
		case []any:
			for _, item := range x {
				add(item)
			}
		case *payload.Map:
			for key, value := range x.All() {
				if key != any("critical") {
					list = append(list, pki.Access{Method: python.Str(key), Where: general(python.Str(value))})
				}
			}
		default:
			for part := range strings.SplitSeq(python.Str(v), ",") {
				if method, where, ok := strings.Cut(strings.TrimSpace(part), ";"); ok {
					list = append(list, pki.Access{Method: method, Where: general(where)})
				}
			}
		}
	}
	add(v)
	return pki.AuthorityInfoAccess(list)
}

// distributionPoints reads names, each a point of its own, and maps with full names.
func distributionPoints(name string, v any, c conf) (pkix.Extension, error) {
	var points [][]pki.General
	list, isList := v.([]any)
	if !isList {
		list = nil
		for _, w := range c.words {
			points = append(points, []pki.General{w})
		}
	}
	for _, item := range list {
		m, ok := item.(*payload.Map)
		if !ok {
			if text := python.Str(item); text != "critical" {
				points = append(points, []pki.General{general(text)})
			}
			continue
		}
		for key := range m.All() {
			if key != any("fullname") {
				return pkix.Extension{}, loader.ExecErr("%s: '%s' is not supported on this minion", name,
					python.Str(key))
			}
		}
		var names []pki.General
		for _, text := range loader.StringList(m.Value("fullname")) {
			names = append(names, general(text))
		}
		points = append(points, names)
	}
	return pki.DistributionPoints(name, c.critical && name != "freshestCRL", points)
}

// policies reads numbers of policies. Their qualifiers are refused.
func policies(v any, c conf) (pkix.Extension, error) {
	m, ok := v.(*payload.Map)
	if !ok {
		return pki.Policies(c.critical, c.names())
	}
	var numbers []string
	for key, value := range m.All() {
		if key == any("critical") {
			continue
		}
		if python.Truth(value) {
			return pkix.Extension{}, loader.ExecErr("certificatePolicies: qualifiers are not supported on this minion")
		}
		numbers = append(numbers, python.Str(key))
	}
	return pki.Policies(c.critical, numbers)
}
