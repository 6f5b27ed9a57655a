package python

import (
	"strings"
	"unicode/utf8"
)

// Lines cuts text where str.splitlines does; keep leaves the ends on.
func Lines(s string, keep bool) []string {
	return cut(s, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", keep)
}

// LinesOfBytes cuts where bytes.splitlines does, and a file that is open with newline="": behind \n, \r and both.
func LinesOfBytes(s string, keep bool) []string { return cut(s, "\n\r", keep) }

func cut(s, ends string, keep bool) []string {
	var out []string
	for s != "" {
		i := strings.IndexAny(s, ends)
		if i < 0 {
			return append(out, s)
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		if keep {
			out = append(out, s[:i+n])
		} else {
			out = append(out, s[:i])
		}
		s = s[i+n:]
	}
	return out
}
