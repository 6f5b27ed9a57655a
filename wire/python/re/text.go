package re

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Text is a pattern of Python's re that is sought in long texts, such as files, as with re.search. The engine of the
// standard library does the work where it means the same. It is safe for concurrent use.
type Text struct {
	fast   *regexp.Regexp // nil when the pattern needs backtracking
	size   int            // of its program
	full   *Groups
	lines  bool // $ means the end of a line, or does not stand in the pattern
	blanks bool // it has classes of blanks, of which Python has more
	wide   bool // nothing in it means something else outside of ASCII
}

// maxTextWork bounds instructions times bytes of text for the fast engine: some ten seconds.
const maxTextWork int64 = 1 << 32

// classes are the escapes that the engines read in different ways outside of ASCII.
var classes = once(`\\[wWdDsSbB]`)

// CompileText reads a pattern. letters are flags of Python, "" or some of "aims".
func CompileText(expr, letters string) (*Text, error) {
	expr, letters = withFlags(expr, letters)
	full, err := CompileGroups(expr, false, false)
	if err != nil {
		return nil, err
	}
	translated, ascii, err := fromPython(expr)
	if err != nil {
		return nil, err
	}
	t := &Text{full: full, lines: strings.Contains(letters, "m") || !strings.Contains(expr, "$"),
		blanks: strings.Contains(expr, `\s`) || strings.Contains(expr, `\S`)}
	flags := strings.Contains(letters, "i") || strings.Contains(strings.TrimPrefix(expr, "(?"+letters+")"), "(?")
	t.wide = !flags && (ascii || !classes().MatchString(expr))
	t.fast, t.size = compileFast(translated, true)
	return t, nil
}

// Search tells whether the pattern fits anywhere. An error means a text that is too long, or one that took too long.
func (t *Text) Search(s string) (bool, error) {
	if t.fast != nil && t.plain(s) {
		if int64(t.size)*int64(len(s)) > maxTextWork {
			return false, fmt.Errorf("%w: a text of %d bytes", ErrPattern, len(s))
		}
		return t.fast.MatchString(s), nil
	}
	spans, err := t.full.Find([]rune(s), 0)
	return spans != nil, err
}

// plain tells whether both engines read s alike.
func (t *Text) plain(s string) bool {
	wide, odd, lines := false, false, false
	for i := 0; i < len(s); i++ {
		wide = wide || s[i] >= utf8.RuneSelf
		lines = lines || s[i] == '\n'
		odd = odd || s[i] == '\v' || s[i] >= 0x1c && s[i] <= 0x1f // blanks to Python alone
	}
	return (!lines || t.lines) && (!odd || !t.blanks) && (!wide || t.wide && utf8.ValidString(s))
}
