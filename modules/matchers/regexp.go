package matchers

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"brine/wire/payload"

	"github.com/dlclark/regexp2"
)

// matchTimeout bounds one match of a pattern that needs backtracking.
const matchTimeout = 200 * time.Millisecond

// maxFastWork bounds the product of pattern and text, in bytes, that the engine without a time limit is given. It takes
// some hundred milliseconds for as much.
const maxFastWork = 16 << 20

// ErrRegexp means a pattern Python's re would refuse, or one that took too long.
var ErrRegexp = errors.New("matchers: bad regular expression")

// Regexp is a pattern of Python's re, used as re.match is: from the start of the text, to any end. The engine
// of the standard library does the work where it means the same; look-arounds, back references and text that is
// not plain ASCII go to a backtracking engine with a time limit. It is safe for concurrent use.
type Regexp struct {
	fast  *regexp.Regexp  // nil when the pattern needs backtracking
	size  int             // of the pattern in bytes
	full  *regexp2.Regexp // reads every pattern
	ascii bool            // \w, \d and \b mean ASCII in any text, as they do in the fast engine
}

// CompileRegexp reads a pattern.
func CompileRegexp(pattern string) (*Regexp, error) {
	if err := fits(pattern); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRegexp, err)
	}
	translated, ascii, err := fromPython(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrRegexp, payload.Show(pattern), err)
	}
	full, err := regexp2.Compile(translated, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrRegexp, payload.Show(pattern), err)
	}
	full.MatchTimeout = matchTimeout
	fast, err := regexp.Compile(`\A(?:` + translated + `)`)
	if err != nil || strings.Contains(translated, "(?x") {
		fast = nil
	}
	return &Regexp{fast: fast, size: len(translated), full: full, ascii: ascii}, nil
}

// Match tells whether the pattern fits at the start of s. An error means the time limit was hit.
func (r *Regexp) Match(s string) (bool, error) {
	if r.fast != nil && r.size*len(s) < maxFastWork && plainText(s, r.ascii) {
		return r.fast.MatchString(s), nil
	}
	m, err := r.full.FindStringMatch(s)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrRegexp, err)
	}
	return m != nil && m.Index == 0, nil // the leftmost match: if any starts at 0, this one does
}

// plainText tells whether both engines read s alike: ASCII, where \w, \d and \b agree unless they mean ASCII
// anyway, on one line, where $ does.
func plainText(s string, ascii bool) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 && !ascii || s[i] < 0x20 && s[i] != '\t' {
			return false
		}
	}
	return true
}

// RegexpMatch is re.match: compile and match in one. A bad pattern matches nothing.
func RegexpMatch(pattern, s string) bool {
	r, err := CompileRegexp(pattern)
	if err != nil {
		return false
	}
	ok, err := r.Match(s)
	return ok && err == nil
}

// ExprMatch is how Salt compares a word with an entry of a list such as autosign_file or publisher_acl: equal, or
// as a glob, or as a regular expression over the whole word (salt/utils/stringutils.py, expr_match).
func ExprMatch(word, expr string) bool {
	if word == expr || GlobMatch(expr, word) {
		return true
	}
	return RegexpMatch(`\A`+expr+`\Z`, word)
}
