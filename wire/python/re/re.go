// Package re matches texts with patterns of Python's re, and never longer than its bounds say: patterns and texts may
// both come from somebody who means ill. The engine of the standard library does the work where it means the same;
// look-arounds, back references and other texts go to an engine that tries one way after another, with a deadline.
package re

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

// ErrPattern means a pattern Python's re would refuse, or one that took too long.
var ErrPattern = errors.New("re: bad regular expression")

// Pattern is a compiled pattern, used as re.match is: from the start of the text, to any end. It is safe for concurrent
// use.
type Pattern struct {
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

// Compile reads a pattern that is to fit at the start of a text, as with re.match.
func Compile(pattern string) (*Pattern, error) { return compile(pattern, atStart) }

// CompileSearch reads a pattern that may fit anywhere in a text, as with re.search.
func CompileSearch(pattern string) (*Pattern, error) { return compile(pattern, anywhere) }

// CompileWhole reads a pattern that must fit a whole text, as with re.fullmatch: alternatives are anchored together.
func CompileWhole(pattern string) (*Pattern, error) { return compile(pattern, allOfIt) }

func compile(pattern string, where place) (*Pattern, error) {
	if err := fits(pattern); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPattern, err)
	}
	translated, ascii, err := fromPython(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrPattern, payload.Show(pattern), err)
	}
	if where == allOfIt {
		translated = `\A(?:` + translated + `)\z`
	}
	full, err := newEngine(translated, false, false)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrPattern, payload.Show(pattern), err)
	}
	fast, size := compileFast(translated, where == anywhere)
	return &Pattern{fast: fast, size: size, full: full, ascii: ascii, loose: where == anywhere}, nil
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

// SlowWork is what Work says of a match by the engine with a deadline.
const SlowWork = 1 << 18

// Work is about how many steps one match takes, of some nanoseconds each.
func (r *Pattern) Work(s string) int {
	if r.IsFast(s) {
		return r.size + r.size*len(s)
	}
	return SlowWork
}

// IsFast says whether a match of s cannot take long, and gives no error.
func (r *Pattern) IsFast(s string) bool {
	return r.fast != nil && r.size*len(s) < maxFastWork && plainText(s, r.ascii)
}

// Match tells whether the pattern fits at the start of s, or anywhere if it was made by CompileSearch. An error means
// the time limit was hit.
func (r *Pattern) Match(s string) (bool, error) {
	if r.IsFast(s) {
		return r.fast.MatchString(s), nil
	}
	if len(s) > maxFullText {
		return false, fmt.Errorf("%w: a text of %d bytes", ErrPattern, len(s))
	}
	at, err := r.full.first(s)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrPattern, err)
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

// fits refuses patterns that are longer than any tool sends.
func fits(pattern string) error {
	if len(pattern) > payload.MaxPattern {
		return fmt.Errorf("pattern of %d bytes", len(pattern))
	}
	return nil
}

// Match is re.match: compile and match in one. A bad pattern matches nothing.
func Match(pattern, s string) bool {
	r, err := Compile(pattern)
	if err != nil {
		return false
	}
	ok, err := r.Match(s)
	return ok && err == nil
}
