package re

import (
	"fmt"
	"unicode/utf8"
)

// Groups is a pattern of Python's re whose groups are asked for. It is safe for concurrent use.
type Groups struct {
	engine engine
	names  map[string]int
}

// Span is a part of a text, in characters: -1 for a group that took no part.
type Span struct{ Start, End int }

// CompileGroups reads a pattern, with re.I and re.M if asked for.
func CompileGroups(pattern string, ignoreCase, multiLine bool) (*Groups, error) {
	if err := fits(pattern); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPattern, err)
	}
	t, err := translate(pattern)
	if err != nil {
		return nil, err
	}
	e, err := newEngine(t.backtracking(), ignoreCase, multiLine)
	if err != nil {
		return nil, err
	}
	return &Groups{e, t.names}, nil
}

// Find looks for the first place from a character on that the pattern fits: the whole and each group, nil for none.
func (g *Groups) Find(s []rune, from int) ([]Span, error) {
	if len(s) > maxFullText/utf8.UTFMax {
		return nil, fmt.Errorf("%w: a text of %d characters", ErrPattern, len(s))
	}
	spans, err := g.engine.spans(s, from)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPattern, err)
	}
	return spans, nil
}

// Named is the number of the group of that name, -1 if there is none.
func (g *Groups) Named(name string) int {
	if n, ok := g.names[name]; ok {
		return n
	}
	return -1
}
