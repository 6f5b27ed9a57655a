package yaml

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"brine/wire/payload"
)

// maxNodeText bounds how much of a node an error shows.
const maxNodeText = 4096

// nodeText shows the value of a node as Python prints one: a text as it is, a collection as a list of nodes.
func nodeText(n *node) string {
	if n.kind == scalarNode {
		return n.text
	}
	var out strings.Builder
	nodeItems(&out, n)
	if out.Len() > maxNodeText {
		return out.String()[:maxNodeText] + "..."
	}
	return out.String()
}

func nodeItems(out *strings.Builder, n *node) {
	out.WriteByte('[')
	for i, item := range n.items {
		if out.Len() > maxNodeText {
			return
		}
		if i > 0 {
			out.WriteString(", ")
		}
		if n.kind == mappingNode && i%2 == 0 {
			out.WriteByte('(')
		}
		nodeRepr(out, item)
		if n.kind == mappingNode && i%2 == 1 {
			out.WriteByte(')')
		}
	}
	out.WriteByte(']')
}

func nodeRepr(out *strings.Builder, n *node) {
	name := [...]string{scalarNode: "ScalarNode", sequenceNode: "SequenceNode", mappingNode: "MappingNode"}[n.kind]
	fmt.Fprintf(out, "%s(tag=%s, value=", name, quote(n.tag))
	if n.kind == scalarNode {
		out.WriteString(quote(n.text))
	} else {
		nodeItems(out, n)
	}
	out.WriteByte(')')
}

// quote is Python's repr of a text.
func quote(s string) string {
	mark := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = '"'
	}
	var out strings.Builder
	out.WriteByte(mark)
	for _, r := range s {
		switch {
		case r == rune(mark), r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
	}
	out.WriteByte(mark)
	return out.String()
}

// keyText is a key as Python's str shows it.
func keyText(key any) string {
	switch k := key.(type) {
	case nil:
		return "None"
	case bool:
		return either(k, "True", "False")
	case float64:
		return floatText(k)
	case payload.Bytes:
		return "b" + quote(string(k))
	}
	return fmt.Sprint(key)
}

// floatText is Python's repr of a number: the shortest digits, an exponent from 1e16 and below 1e-4.
func floatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
