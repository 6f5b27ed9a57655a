package re

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of the work on one text by the engine that tries one way after another: a file of usual size is far below, a
// pattern that has more ways than there is time ends soon enough.
const (
	maxEditText = 4 << 20 // characters
	editTimeout = 5 * time.Second
)

// Edit is a pattern of Python's re by which long texts are taken apart, as with re.finditer and re.sub. It is safe for
// concurrent use.
type Edit struct {
	text   *Text
	fast   *regexp.Regexp // nil when the pattern needs backtracking, or fits where there is nothing
	full   engine
	beyond engine // as full, but fits no nothing where the search begins
	groups int
	names  map[string]int
	bytes  bool
}

// CompileEdit reads a pattern of text. letters are flags of Python, "" or some of "aims x".
func CompileEdit(expr, letters string) (*Edit, error) { return compileEdit(expr, letters, false) }

// CompileBytes reads a pattern of bytes: it and the texts have a character for each byte (see Latin1), and classes
// are those of ASCII.
func CompileBytes(expr, letters string) (*Edit, error) { return compileEdit(expr, letters+"a", true) }

func compileEdit(expr, letters string, bytes bool) (*Edit, error) {
	whole, letters := withFlags(expr, letters)
	text, err := CompileText(whole, "")
	if err != nil {
		return nil, err
	}
	t, err := translate(whole)
	if err != nil {
		return nil, err
	}
	e := &Edit{text: text, groups: t.groups, names: t.names, bytes: bytes}
	e.text.lines = strings.Contains(letters, "m") || !strings.Contains(expr, "$")
	if text.fast != nil && solid(t.out.String()) {
		e.fast = text.fast
	}
	full := t.backtracking()
	flags := ""
	if strings.HasPrefix(full, "(?") && strings.Contains(letters, "x") {
		flags = "\n" // a comment at the end of the pattern ends
	}
	if e.full, err = newEngine(full, false, false); err != nil {
		return nil, err
	}
	if e.beyond, err = newEngine("(?:"+full+flags+`)(?!\G)`, false, false); err != nil {
		return nil, err
	}
	e.full.re.MatchTimeout, e.beyond.re.MatchTimeout = editTimeout, editTimeout
	return e, nil
}

// solid tells that whatever fits has a character.
func solid(translated string) bool {
	tree, err := syntax.Parse(translated, syntax.Perl)
	return err == nil && shortest(tree) > 0
}

// shortest is about the length of the shortest text that fits.
func shortest(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return shortest(re.Sub[0])
	case syntax.OpRepeat:
		return min(re.Min, 1) * shortest(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if shortest(sub) > 0 {
				return 1
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if shortest(sub) == 0 {
				return 0
			}
		}
		return 1
	}
	return 0
}

// Found is a place that a pattern fits.
type Found struct {
	Start, End int // in bytes
	s          string
	spans      []int // as the standard library has them
}

// Group is what a group took; false for one that took no part.
func (f Found) Group(n int) (string, bool) {
	if n < 0 || 2*n+1 >= len(f.spans) || f.spans[2*n] < 0 {
		return "", false
	}
	return f.s[f.spans[2*n]:f.spans[2*n+1]], true
}

// Each calls visit for each place that the pattern fits, from the left, until visit returns false. An error means a
// text that is too long, or one that took too long.
func (e *Edit) Each(s string, visit func(Found) bool) error {
	if e.fast != nil && e.plain(s) {
		if int64(e.text.size)*int64(len(s)) > maxTextWork {
			return fmt.Errorf("%w: a text of %d bytes", ErrPattern, len(s))
		}
		for _, spans := range e.fast.FindAllStringSubmatchIndex(s, -1) {
			if !visit(Found{spans[0], spans[1], s, spans}) {
				break
			}
		}
		return nil
	}
	return e.eachSlowly(s, visit)
}

// plain tells whether both engines read s alike.
func (e *Edit) plain(s string) bool {
	if e.bytes {
		return e.text.lines && !(e.text.blanks && strings.ContainsRune(s, '\v')) ||
			!strings.ContainsAny(s, "\v\n")
	}
	return e.text.plain(s)
}

func (e *Edit) eachSlowly(s string, visit func(Found) bool) error {
	runes := []rune(s)
	if len(runes) > maxEditText {
		return fmt.Errorf("%w: a text of %d characters", ErrPattern, len(runes))
	}
	end := time.Now().Add(editTimeout)
	at := newOffsets(s, runes)
	from, engine := 0, e.full
	for {
		spans, err := engine.spans(runes, from)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrPattern, err)
		}
		if spans == nil {
			return nil
		}
		if !visit(at.found(spans)) {
			return nil
		}
		engine = e.full
		if spans[0].Start == spans[0].End {
			engine = e.beyond
		}
		from = spans[0].End
		if time.Now().After(end) {
			return fmt.Errorf("%w: it took more than %s", ErrPattern, editTimeout)
		}
	}
}

// offsets turns numbers of characters into numbers of bytes.
type offsets struct {
	s     string
	bytes []int32 // nil where they are the same
}

func newOffsets(s string, runes []rune) *offsets {
	o := &offsets{s: s}
	if len(runes) == len(s) {
		return o
	}
	o.bytes = make([]int32, 0, len(runes)+1)
	for i := range s {
		o.bytes = append(o.bytes, int32(i))
	}
	o.bytes = append(o.bytes, int32(len(s)))
	return o
}

func (o *offsets) found(spans []Span) Found {
	flat := make([]int, 0, 2*len(spans))
	for _, span := range spans {
		for _, n := range []int{span.Start, span.End} {
			if n >= 0 && o.bytes != nil {
				n = int(o.bytes[n])
			}
			flat = append(flat, n)
		}
	}
	return Found{flat[0], flat[1], o.s, flat}
}

// Search tells whether the pattern fits anywhere.
func (e *Edit) Search(s string) (found bool, err error) {
	if e.text.fast != nil && e.plain(s) && int64(e.text.size)*int64(len(s)) <= maxTextWork {
		return e.text.fast.MatchString(s), nil
	}
	err = e.eachSlowly(s, func(Found) bool {
		found = true
		return false
	})
	return found, err
}

// Sub is re.subn: count is how many places are replaced at most, 0 for all.
func (e *Edit) Sub(s string, t *Template, count int64) (out string, n int64, err error) {
	var b strings.Builder
	last := 0
	if count < 0 {
		return s, 0, nil
	}
	err = e.Each(s, func(f Found) bool {
		b.WriteString(s[last:f.Start])
		t.write(&b, f)
		last = f.End
		n++
		return n != count
	})
	if n == 0 || err != nil {
		return s, 0, err
	}
	b.WriteString(s[last:])
	return b.String(), n, nil
}

// Latin1 has a character for each byte.
func Latin1(data []byte) string {
	n := 0
	for _, c := range data {
		if c >= utf8.RuneSelf {
			n++
		}
	}
	if n == 0 {
		return string(data)
	}
	var b strings.Builder
	b.Grow(len(data) + n)
	for _, c := range data {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// Bytes is what Latin1 was made of.
func Bytes(s string) []byte {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		out = append(out, byte(r))
	}
	return out
}
