package yaml

import (
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"
)

// position is a place in a text as nodes tell it: line and column in characters, from 1.
type position struct{ line, column int }

// loneTags finds the places of the tag "!" alone, which the parser does not report, and of an anchor right
// before one, because a node begins at its anchor.
func loneTags(src []byte) map[position]bool {
	text := string(src)
	if !strings.Contains(text, "!") {
		return nil
	}
	lone := map[position]bool{}
	at, word, anchor := position{1, 1}, position{}, position{}
	start := -1 // where the current word begins in text
	flush := func(end int) {
		if start < 0 {
			return
		}
		switch w := text[start:end]; {
		case w == "!":
			lone[word] = true
			if anchor.line > 0 {
				lone[anchor] = true
			}
			anchor = position{}
		case strings.HasPrefix(w, "&"):
			anchor = word
		default:
			anchor = position{}
		}
		start = -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isBreak(r):
			flush(i)
			if r == '\r' && strings.HasPrefix(text[i+1:], "\n") {
				size = 2
			}
			at = position{at.line + 1, 1}
		default:
			if r == ' ' || r == '\t' || (strings.ContainsRune("[{,", r) && start < 0) {
				flush(i)
			} else if start < 0 {
				start, word = i, at
			}
			at.column++
		}
		i += size
	}
	flush(len(text))
	return lone
}

// isBreak says whether YAML 1.1 ends a line at r.
func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// uniqueAnchors refuses a document that uses an anchor name twice, as PyYAML does.
func uniqueAnchors(n *yaml.Node, seen map[string]bool) error {
	if n.Anchor != "" && n.Kind != yaml.AliasNode {
		if seen[n.Anchor] {
			return at(n, "found duplicate anchor '%s'", n.Anchor)
		}
		seen[n.Anchor] = true
	}
	for _, child := range n.Content {
		if err := uniqueAnchors(child, seen); err != nil {
			return err
		}
	}
	return nil
}
