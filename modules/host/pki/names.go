package pki

import (
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Attribute is one part of a distinguished name.
type Attribute struct {
	Short string // "CN"; "" where it has none
	OID   asn1.ObjectIdentifier
	Value string
}

// Name is a distinguished name, in the order of its encoding; a part has mostly one attribute.
type Name [][]Attribute

// attributes are those that have a short name, in the order in which Salt puts them.
func attributes() []Attribute {
	return []Attribute{
		{"C", asn1.ObjectIdentifier{2, 5, 4, 6}, ""}, {"ST", asn1.ObjectIdentifier{2, 5, 4, 8}, ""},
		{"L", asn1.ObjectIdentifier{2, 5, 4, 7}, ""}, {"STREET", asn1.ObjectIdentifier{2, 5, 4, 9}, ""},
		{"O", asn1.ObjectIdentifier{2, 5, 4, 10}, ""}, {"OU", asn1.ObjectIdentifier{2, 5, 4, 11}, ""},
		{"CN", asn1.ObjectIdentifier{2, 5, 4, 3}, ""}, {"MAIL", asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}, ""},
		{"SN", asn1.ObjectIdentifier{2, 5, 4, 4}, ""}, {"GN", asn1.ObjectIdentifier{2, 5, 4, 42}, ""},
		{"UID", asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}, ""},
		{"SERIALNUMBER", asn1.ObjectIdentifier{2, 5, 4, 5}, ""},
	}
}

// Shorts are the short names of attributes, in Salt's order.
func Shorts() []string {
	var out []string
	for _, a := range attributes() {
		out = append(out, a.Short)
	}
	return out
}

// rfc4514 are the short names in texts of names.
var rfc4514 = []string{"CN", "L", "ST", "O", "OU", "C", "STREET", "DC", "UID"}

var oidDC = asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 25}

// attribute finds an attribute by its short name or its number.
func attribute(name string) (Attribute, error) {
	for _, a := range attributes() {
		if strings.EqualFold(a.Short, name) {
			return a, nil
		}
	}
	if strings.EqualFold(name, "DC") {
		return Attribute{"DC", oidDC, ""}, nil
	}
	oid, err := ParseOID(name)
	return Attribute{"", oid, ""}, err
}

// ParseOID reads an object identifier.
func ParseOID(text string) (asn1.ObjectIdentifier, error) {
	var oid asn1.ObjectIdentifier
	for part := range strings.SplitSeq(text, ".") {
		n := 0
		if _, err := fmt.Sscanf(part, "%d", &n); err != nil || fmt.Sprint(n) != part {
			return nil, errors.New("Invalid oid: " + text)
		}
		oid = append(oid, n)
	}
	if len(oid) < 2 || oid[0] > 2 {
		return nil, errors.New("Invalid oid: " + text)
	}
	return oid, nil
}

// NameOf makes a name of attributes by their short names; get gives their values.
func NameOf(get func(short string) (string, bool)) Name {
	var out Name
	for _, a := range attributes() {
		if v, ok := get(a.Short); ok {
			a.Value = v
			out = append(out, []Attribute{a})
		}
	}
	return out
}

// ParseName reads a name as RFC 4514 has it, the last part of the encoding first.
func ParseName(text string) (Name, error) {
	var out Name
	for _, part := range splitEscaped(text, ',') {
		rdn, err := ParsePart(part)
		if err != nil {
			return nil, err
		}
		out = append(out, rdn)
	}
	slices.Reverse(out)
	return out, nil
}

// ParsePart reads one part of a name.
func ParsePart(text string) ([]Attribute, error) {
	var out []Attribute
	for _, pair := range splitEscaped(text, '+') {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, errors.New("Failed parsing rfc4514 dirName string")
		}
		a, err := attribute(strings.TrimSpace(name))
		if err != nil {
			return nil, errors.New("Failed parsing rfc4514 dirName string")
		}
		a.Value = unescaped(strings.TrimSpace(value))
		out = append(out, a)
	}
	return out, nil
}

func splitEscaped(text string, sep byte) (out []string) {
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case sep:
			out = append(out, text[start:i])
			start = i + 1
		}
	}
	return append(out, text[start:])
}

func unescaped(text string) string {
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		if b, err := hex.DecodeString(text[i+1 : min(i+3, len(text))]); err == nil && len(b) == 1 {
			out = append(out, b[0])
			i += 2
			continue
		}
		i++
		out = append(out, text[i])
	}
	return string(out)
}

// String is the name as RFC 4514 has it.
func (n Name) String() string {
	var parts []string
	for _, part := range slices.Backward(n) {
		var pairs []string
		for _, a := range part {
			name := a.OID.String()
			if slices.Contains(rfc4514, a.Short) {
				name = a.Short
			}
			pairs = append(pairs, name+"="+escaped(a.Value))
		}
		parts = append(parts, strings.Join(pairs, "+"))
	}
	return strings.Join(parts, ",")
}

func escaped(v string) string {
	v = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "+", `\+`, ",", `\,`, ";", `\;`, "<", `\<`, ">", `\>`, "\x00",
		`\00`).Replace(v)
	if strings.HasPrefix(v, "#") || strings.HasPrefix(v, " ") {
		v = `\` + v
	}
	if strings.HasSuffix(v, " ") {
		v = v[:len(v)-1] + `\ `
	}
	return v
}

type attributeDER struct {
	OID   asn1.ObjectIdentifier
	Value asn1.RawValue
}

type partDER []attributeDER

// DER is the encoding of the name.
func (n Name) DER() ([]byte, error) {
	parts := []asn1.RawValue{}
	for _, part := range n {
		var set []attributeDER
		for _, a := range part {
			tag := asn1.TagUTF8String
			switch a.Short {
			case "C", "SERIALNUMBER":
				tag = asn1.TagPrintableString
			case "MAIL", "DC":
				tag = asn1.TagIA5String
			}
			if a.Short == "C" && len(a.Value) != 2 {
				return nil, errors.New("Country name must be a 2 character country code")
			}
			if a.Value == "" {
				return nil, errors.New("Value cannot be an empty string")
			}
			set = append(set, attributeDER{a.OID, asn1.RawValue{Tag: tag, Bytes: []byte(a.Value)}})
		}
		der, err := asn1.MarshalWithParams(set, "set")
		if err != nil {
			return nil, err
		}
		parts = append(parts, asn1.RawValue{FullBytes: der})
	}
	return asn1.Marshal(parts)
}

// NameFrom reads an encoding.
func NameFrom(der []byte) (Name, error) {
	var parts []asn1.RawValue
	if _, err := asn1.Unmarshal(der, &parts); err != nil {
		return nil, err
	}
	var out Name
	for _, part := range parts {
		var set partDER
		if _, err := asn1.UnmarshalWithParams(part.FullBytes, &set, "set"); err != nil {
			return nil, err
		}
		var rdn []Attribute
		for _, a := range set {
			known, err := attribute(a.OID.String())
			if err != nil {
				return nil, err
			}
			for _, short := range append(attributes(), Attribute{"DC", oidDC, ""}) {
				if short.OID.Equal(a.OID) {
					known = short
				}
			}
			known.Value = string(a.Value.Bytes)
			rdn = append(rdn, known)
		}
		out = append(out, rdn)
	}
	return out, nil
}
