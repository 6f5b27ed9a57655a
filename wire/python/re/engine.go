package re

import (
	"time"

	"github.com/dlclark/regexp2"
)

// Timeout bounds one match of a pattern that needs backtracking.
const Timeout = 200 * time.Millisecond

// engine is a pattern that is matched by trying one way after another, as look-arounds and back references need it.
// Some patterns have more ways than there is time. It is made by newEngine alone, which gives it a deadline; no other
// file of the tree may use the library (TestOneEngine).
type engine struct{ re *regexp2.Regexp }

func newEngine(expr string, ignoreCase, multiLine bool) (engine, error) {
	options := regexp2.RegexOptions(regexp2.None)
	if ignoreCase {
		options |= regexp2.IgnoreCase
	}
	if multiLine {
		options |= regexp2.Multiline
	}
	re, err := regexp2.Compile(expr, options)
	if err != nil {
		return engine{}, err
	}
	re.MatchTimeout = Timeout
	return engine{re}, nil
}

// first is where the leftmost match begins; -1 for none. An error means that the time was over.
func (e engine) first(s string) (int, error) {
	m, err := e.re.FindStringMatch(s)
	if err != nil || m == nil {
		return -1, err
	}
	return m.Index, nil
}

// spans are the whole and each group of the first match from a character on; nil for none.
func (e engine) spans(s []rune, from int) ([]Span, error) {
	m, err := e.re.FindRunesMatchStartingAt(s, from)
	if err != nil || m == nil {
		return nil, err
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
