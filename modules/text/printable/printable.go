// Package printable writes out what must not reach a terminal as it is: control characters, which move cursors, fill
// clipboards, end lines and hide what stood there, and marks that turn the direction of a text. What peers say comes
// before the eyes of operators, in logs and in the output of tools. It does not know where a text goes: its users ask
// for it where that is a log or a terminal. Answers to nothing in Salt.
package printable

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Line is a text as one line: of all control characters only tabs stay.
func Line(s string) string { return written(s, 0) }

// Text is a text of any number of lines: line ends and tabs stay, and "\r\n" ends a line too.
func Text(s string) string { return written(s, lines) }

// Colored is Text that leaves the sequences in which select colours: "ESC[", digits, "m".
func Colored(s string) string { return written(s, lines|colors) }

// kept says what stays beside tabs.
type kept uint8

const (
	lines kept = 1 << iota
	colors
)

func written(s string, keep kept) string {
	i := harmless(s, keep)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for s != "" {
		b.WriteString(s[:i])
		if s = s[i:]; s == "" {
			break
		}
		s = s[writeOut(&b, s, keep):]
		i = harmless(s, keep)
	}
	return b.String()
}

// harmless is how many bytes at the beginning are printable ASCII, or stay in any case.
func harmless(s string, keep kept) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' && (c != '\n' || keep&lines == 0) || c >= 0x7f {
			return i
		}
	}
	return len(s)
}

// writeOut writes the first character of s and returns how many bytes of s that was.
func writeOut(b *strings.Builder, s string, keep kept) int {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1:
		fmt.Fprintf(b, `\x%02x`, s[0])
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r' && keep&lines != 0 && strings.HasPrefix(s[1:], "\n"): // the line end follows
	case r == '\r':
		b.WriteString(`\r`)
	case r == 0x1b && keep&colors != 0 && color(s) > 0:
		n = color(s)
		b.WriteString(s[:n])
	case r < ' ' || r == 0x7f:
		fmt.Fprintf(b, `\x%02x`, r)
	case hidden(r):
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		b.WriteString(s[:n])
	}
	return n
}

// color is the length of the sequence at the beginning of s that selects a colour, 0 if there is none.
func color(s string) int {
	rest, ok := strings.CutPrefix(s, "\x1b[")
	if !ok {
		return 0
	}
	digits := strings.TrimLeft(rest, "0123456789;")
	if !strings.HasPrefix(digits, "m") {
		return 0
	}
	return len(s) - len(digits) + 1
}

// hidden tells the characters beyond ASCII that end lines, control terminals or turn the direction of what follows.
func hidden(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0x9f, r == 0x61c, r >= 0x200e && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 &&
		r <= 0x2069, r == 0xfeff:
		return true
	}
	return false
}
