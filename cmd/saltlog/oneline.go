package saltlog

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// oneLine writes out what would end a line, move the cursor of a terminal or turn the direction of a text: names of peers
// come into the log, and must not look like lines of it.
func oneLine(s string) string {
	i := harmless(s)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for s = s[i:]; s != ""; {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r != '\t' && r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// harmless is how many bytes at the beginning are printable ASCII or tabs.
func harmless(s string) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c >= 0x7f {
			return i
		}
	}
	return len(s)
}

// hidden tells the characters beyond ASCII that end lines, control terminals or turn the direction of what follows.
func hidden(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f, r == 0x61c, r >= 0x200e && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
		return true
	}
	return false
}
