// Package python has Python's rules for the values of wire/payload, once for the whole tree: str(), repr(), bool(),
// int(), float(), the names of types, white space, UTF-8 and base64. Salt's texts carry such forms: "not valid:
// a={'b': 1}", test.arg_repr, messages about a grain's old value. Patterns, words of a shell and JSON have packages of
// their own below it. It imports wire/payload alone. The mutable values of templates have their rules beside them
// (modules/renderers/jinja/py), and take those of texts and numbers from here.
package python

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/wire/payload"
)

// Str is str(v): text as it is, everything else as Repr.
func Str(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return Repr(v)
}

// Repr is repr(v).
func Repr(v any) string {
	var b strings.Builder
	write(&b, v)
	return b.String()
}

// StrOrdered is Str for data that a renderer of YAML made: its maps print as the OrderedDict that they are in Salt.
func StrOrdered(v any) string {
	switch v := v.(type) {
	case *payload.Map:
		if !v.Ordered() {
			return reprOrdered(v)
		}
		if v.Len() == 0 {
			return "OrderedDict()"
		}
		var pairs []string
		for key, value := range v.All() {
			pairs = append(pairs, "("+Repr(key)+", "+reprOrdered(value)+")")
		}
		return "OrderedDict([" + strings.Join(pairs, ", ") + "])"
	case []any:
		return reprOrdered(v)
	}
	return Str(v)
}

// reprOrdered is StrOrdered with texts as repr shows them.
func reprOrdered(v any) string {
	var parts []string
	switch v := v.(type) {
	case *payload.Map:
		if v.Ordered() {
			return StrOrdered(v)
		}
		for key, value := range v.All() {
			parts = append(parts, Repr(key)+": "+reprOrdered(value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, value := range v {
			parts = append(parts, reprOrdered(value))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return Repr(v)
}

// ATuple is a list that prints as a tuple. It is for printing alone: nothing else knows it.
type ATuple struct{ Values []any }

func (t ATuple) String() string { return Tuple(t.Values) }

// Tuple is the repr of a tuple of these values.
func Tuple(values []any) string {
	if len(values) == 1 {
		return "(" + Repr(values[0]) + ",)"
	}
	var b strings.Builder
	writeSeq(&b, "(", values, ")")
	return b.String()
}

// Type is the name of the Python type of v: "int", "dict", "NoneType".
func Type(v any) string {
	switch v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int, int64, uint64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case []byte, payload.Bytes:
		return "bytes"
	case []any:
		return "list"
	case ATuple:
		return "tuple"
	case payload.Set:
		return "set"
	case *payload.Map:
		return "dict"
	}
	return "object"
}

func write(b *strings.Builder, v any) {
	switch x := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[x])
	case float64:
		b.WriteString(Float(x))
	case string:
		quote(b, x)
	case []byte:
		b.WriteByte('b')
		quoteBytes(b, x)
	case payload.Bytes:
		b.WriteByte('b')
		quoteBytes(b, []byte(x))
	case []any:
		writeSeq(b, "[", x, "]")
	case payload.Set:
		if len(x) == 0 {
			b.WriteString("set()")
			return
		}
		writeSeq(b, "{", x, "}")
	case *payload.Map:
		writeMap(b, x)
	default:
		fmt.Fprint(b, x)
	}
}

func writeSeq(b *strings.Builder, open string, values []any, end string) {
	b.WriteString(open)
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		write(b, v)
	}
	b.WriteString(end)
}

func writeMap(b *strings.Builder, m *payload.Map) {
	b.WriteByte('{')
	first := true
	for k, v := range m.All() {
		if !first {
			b.WriteString(", ")
		}
		first = false
		write(b, k)
		b.WriteString(": ")
		write(b, v)
	}
	b.WriteByte('}')
}

// Float is the shortest text that reads back as f, in Python's spelling: 1.0, 1e+16, inf.
func Float(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	abs := math.Abs(f)
	if abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quoteFor picks Python's quote: single, unless the text has one and no double quote.
func quoteFor(hasSingle, hasDouble bool) rune {
	if hasSingle && !hasDouble {
		return '"'
	}
	return '\''
}

func quote(b *strings.Builder, s string) {
	q := quoteFor(strings.Contains(s, "'"), strings.Contains(s, `"`))
	b.WriteRune(q)
	for i, r := range s {
		switch {
		case r == q || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r) && (r != utf8.RuneError || replaced(s[i:])):
			b.WriteRune(r)
		default:
			escapeRune(b, r)
		}
	}
	b.WriteRune(q)
}

// replaced says whether text begins with a U+FFFD of its own, and not with a byte that is no UTF-8.
func replaced(s string) bool { return strings.HasPrefix(s, "\ufffd") }

func escapeRune(b *strings.Builder, r rune) {
	switch {
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

func quoteBytes(b *strings.Builder, p []byte) {
	q := byte(quoteFor(strings.Contains(string(p), "'"), strings.Contains(string(p), `"`)))
	b.WriteByte(q)
	for _, c := range p {
		switch {
		case c == q || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c >= 0x20 && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(b, `\x%02x`, c)
		}
	}
	b.WriteByte(q)
}
