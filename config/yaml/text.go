package yaml

import (
	"fmt"
	"strings"

	"brine/wire/python"
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
	fmt.Fprintf(out, "%s(tag=%s, value=", name, python.Repr(n.tag))
	if n.kind == scalarNode {
		out.WriteString(python.Repr(n.text))
	} else {
		nodeItems(out, n)
	}
	out.WriteByte(')')
}
