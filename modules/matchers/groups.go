package matchers

import (
	"fmt"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// Groups is a pattern of Python's re whose groups are asked for. It is safe for concurrent use.
type Groups struct{ re *regexp2.Regexp }

// Span is a part of a text, in characters: -1 for a group that took no part.
type Span struct{ Start, End int }

// CompileGroups reads a pattern, with re.I and re.M if asked for.
func CompileGroups(pattern string, ignoreCase, multiLine bool) (*Groups, error) {
	if err := fits(pattern); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRegexp, err)
	}
	translated, _, err := fromPython(pattern)
	if err != nil {
		return nil, err
	}
	var options regexp2.RegexOptions = regexp2.None
	if ignoreCase {
		options |= regexp2.IgnoreCase
	}
	if multiLine {
		options |= regexp2.Multiline
	}
	re, err := regexp2.Compile(translated, options)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = matchTimeout
	return &Groups{re}, nil
}

// Find looks for the first place from a character on that the pattern fits: the whole and each group, nil for none.
func (g *Groups) Find(s []rune, from int) ([]Span, error) {
	if len(s) > maxFullText/utf8.UTFMax {
		return nil, fmt.Errorf("%w: a text of %d characters", ErrRegexp, len(s))
	}
	m, err := g.re.FindRunesMatchStartingAt(s, from)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRegexp, err)
	}
	if m == nil {
		return nil, nil
	}
	var out []Span
	for _, group := range m.Groups() {
		span := Span{-1, -1}
		if len(group.Captures) > 0 {
			span = Span{group.Index, group.Index + group.Length}
		}
		out = append(out, span)
	}
	return out, nil
}

// Named is the number of the group of that name, -1 if there is none.
func (g *Groups) Named(name string) int { return g.re.GroupNumberFromName(name) }
