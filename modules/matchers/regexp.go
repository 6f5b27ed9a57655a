package matchers

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"brine/wire/payload"
)

// Bounds of what the engine without a time limit is given. A few bytes of pattern may stand for a large program:
// x{999}.
const (
	maxProgram  = 1 << 17  // instructions; compiling as many takes a tenth of a second
	maxCaptures = 1 << 21  // instructions times groups: the numbers that a match keeps
	maxFastWork = 16 << 20 // instructions times bytes of text: some hundred milliseconds
)

// maxFullText bounds a text for the engine with one, in bytes: it looks at the clock every thousand steps, and a step
// may go over the whole text.
const maxFullText = 1 << 18

// ErrRegexp means a pattern Python's re would refuse, or one that took too long.
var ErrRegexp = errors.New("matchers: bad regular expression")

// Regexp is a pattern of Python's re, used as re.match is: from the start of the text, to any end. The engine
// of the standard library does the work where it means the same; look-arounds, back references and text that is
// not plain ASCII go to a backtracking engine with a time limit. It is safe for concurrent use.
type Regexp struct {
	fast  *regexp.Regexp // nil when the pattern needs backtracking
	size  int            // of its program
	full  engine         // reads every pattern
	ascii bool           // \w, \d and \b mean ASCII in any text, as they do in the fast engine
	loose bool           // it may fit anywhere
}

// place is where in a text a pattern is to fit.
type place int

const (
	atStart  place = iota // re.match
	anywhere              // re.search
	allOfIt               // re.fullmatch
)

// CompileRegexp reads a pattern.
func CompileRegexp(pattern string) (*Regexp, error) { return compile(pattern, atStart) }

// CompileSearch reads a pattern that may fit anywhere in a text, as with re.search.
func CompileSearch(pattern string) (*Regexp, error) { return compile(pattern, anywhere) }

// CompileWhole reads a pattern that must fit a whole text, as with re.fullmatch: alternatives are anchored together.
func CompileWhole(pattern string) (*Regexp, error) { return compile(pattern, allOfIt) }

func compile(pattern string, where place) (*Regexp, error) {
	if err := fits(pattern); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRegexp, err)
	}
	translated, ascii, err := fromPython(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrRegexp, payload.Show(pattern), err)
	}
	if where == allOfIt {
		translated = `\A(?:` + translated + `)\z`
	}
	full, err := newEngine(translated, false, false)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrRegexp, payload.Show(pattern), err)
	}
	fast, size := compileFast(translated, where == anywhere)
	return &Regexp{fast: fast, size: size, full: full, ascii: ascii, loose: where == anywhere}, nil
}

// compileFast compiles a pattern for the fast engine; nil when it has no way to read it, or would make too much of it.
func compileFast(translated string, loose bool) (fast *regexp.Regexp, size int) {
	if strings.Contains(translated, "(?x") {
		return nil, 0
	}
	expr := `(?:` + translated + `)`
	if !loose {
		expr = `\A` + expr
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, 0
	}
	size = programSize(tree)
	if size > maxProgram || size*(1+tree.MaxCap()) > maxCaptures {
		return nil, 0
	}
	if fast, err = regexp.Compile(expr); err != nil {
		return nil, 0
	}
	return fast, size
}

// programSize is about how many instructions a pattern is compiled to.
func programSize(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/2
	for _, sub := range re.Sub {
		n = min(n+programSize(sub), maxProgram+1)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n+1, maxProgram+1)
}

// work is how much one match takes, as a limit weighs it. Of the engine with a time limit each match is worth a look at
// the clock.
func (r *Regexp) work(s string) int {
	if r.isFast(s) {
		return r.size + r.size*len(s)
	}
	return heavy
}

func (r *Regexp) isFast(s string) bool {
	return r.fast != nil && r.size*len(s) < maxFastWork && plainText(s, r.ascii)
}

// Match tells whether the pattern fits at the start of s, or anywhere if it was made by CompileSearch. An error means
// the time limit was hit.
func (r *Regexp) Match(s string) (bool, error) {
	if r.isFast(s) {
		return r.fast.MatchString(s), nil
	}
	if len(s) > maxFullText {
		return false, fmt.Errorf("%w: a text of %d bytes", ErrRegexp, len(s))
	}
	at, err := r.full.first(s)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrRegexp, err)
	}
	return at == 0 || at > 0 && r.loose, nil // the leftmost match: if any starts at 0, this one does
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

// ExprForbids is ExprMatch for a list that keeps words out: a pattern that takes too long for a word forbids it.
func ExprForbids(word, expr string) bool {
	if word == expr || GlobMatch(expr, word) {
		return true
	}
	re, err := CompileRegexp(`\A` + expr + `\Z`)
	if err != nil { // it is a glob
		return false
	}
	ok, err := re.Match(word)
	return ok || err != nil
}

// ExprMatch is how Salt compares a word with an entry of a list such as publisher_acl: equal, or
// as a glob, or as a regular expression over the whole word (salt/utils/stringutils.py, expr_match).
func ExprMatch(word, expr string) bool {
	if word == expr || GlobMatch(expr, word) {
		return true
	}
	return RegexpMatch(`\A`+expr+`\Z`, word)
}
