// Package fnmatch matches texts with the patterns of Python's fnmatch: "*", "?", "[seq]", "[!seq]"; case counts, and
// nothing escapes. path.Match of Go differs in slashes, escapes, negation and broken brackets.
package fnmatch

import (
	"strings"
	"unicode/utf8"
)

// Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	items []piece
	text  string // the pattern itself when it has no special character
	plain bool
}

type kind uint8

const (
	oneRune kind = iota
	anyRune
	anyRun
	oneOf
	never
)

// piece matches one character, or any run of them (anyRun).
type piece struct {
	kind kind
	r    rune
	set  *runeSet
}

// runeSet is what stands in brackets: single characters and ranges, possibly negated.
type runeSet struct {
	ranges [][2]rune
	negate bool
}

func (s *runeSet) has(r rune) bool {
	for _, p := range s.ranges {
		if p[0] <= r && r <= p[1] {
			return !s.negate
		}
	}
	return s.negate
}

// HasMagic tells whether a pattern has a special character: without one it matches itself alone.
func HasMagic(pattern string) bool { return strings.ContainsAny(pattern, "*?[") }

// Compile reads a pattern. Every text is a pattern: a bracket that is not closed stands for itself.
func Compile(pattern string) *Pattern {
	g := &Pattern{text: pattern, plain: !HasMagic(pattern)}
	if g.plain {
		return g
	}
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; c {
		case '*':
			if n := len(g.items); n == 0 || g.items[n-1].kind != anyRun {
				g.items = append(g.items, piece{kind: anyRun})
			}
		case '?':
			g.items = append(g.items, piece{kind: anyRune})
		case '[':
			item, next := bracket(runes, i)
			g.items = append(g.items, item)
			i = next
		default:
			g.items = append(g.items, piece{kind: oneRune, r: c})
		}
	}
	return g
}

// bracket reads "[...]" at i and returns the item with the index of its last character.
func bracket(p []rune, i int) (piece, int) {
	start := i + 1
	j := start
	if j < len(p) && p[j] == '!' {
		j++
	}
	if j < len(p) && p[j] == ']' {
		j++
	}
	for j < len(p) && p[j] != ']' {
		j++
	}
	if j >= len(p) {
		return piece{kind: oneRune, r: '['}, i
	}
	return class(p[start:j]), j
}

// class makes the item for the inside of brackets. Ranges whose ends are in the wrong order hold nothing.
func class(stuff []rune) piece {
	set := &runeSet{}
	if stuff[0] == '!' {
		set.negate = true
		stuff = stuff[1:]
	}
	set.ranges = ranges(chunksOf(stuff))
	switch {
	case len(set.ranges) > 0:
		return piece{kind: oneOf, set: set}
	case set.negate:
		return piece{kind: anyRune}
	}
	return piece{kind: never}
}

// ranges reads chunks joined by range hyphens the way a regular expression's set is read: from left to
// right, so that a character that ended a range begins no other.
func ranges(chunks [][]rune) [][2]rune {
	const hyphen = -1 // a joining hyphen; hyphens within a chunk are plain characters
	var seq []rune
	for k, chunk := range chunks {
		if k > 0 {
			seq = append(seq, hyphen)
		}
		seq = append(seq, chunk...)
	}
	literal := func(r rune) rune {
		if r == hyphen {
			return '-'
		}
		return r
	}
	var out [][2]rune
	for i := 0; i < len(seq); i++ {
		if i+2 < len(seq) && seq[i+1] == hyphen {
			out = append(out, [2]rune{literal(seq[i]), literal(seq[i+2])})
			i += 2
			continue
		}
		out = append(out, [2]rune{literal(seq[i]), literal(seq[i])})
	}
	return out
}

// chunksOf cuts the inside of brackets at the hyphens that mean a range: the last character of a chunk and the
// first of the next are its ends. A hyphen at either side stands for itself; empty ranges are taken out.
func chunksOf(stuff []rune) [][]rune {
	var chunks [][]rune
	from := 0
	for k := 1; k < len(stuff); k++ {
		if stuff[k] != '-' {
			continue
		}
		chunks = append(chunks, append([]rune(nil), stuff[from:k]...))
		from = k + 1
		k += 2
	}
	switch rest := stuff[from:]; {
	case len(rest) > 0:
		chunks = append(chunks, append([]rune(nil), rest...))
	case len(chunks) > 0:
		chunks[len(chunks)-1] = append(chunks[len(chunks)-1], '-')
	}
	for k := len(chunks) - 1; k > 0; k-- {
		before := chunks[k-1]
		if len(before) == 0 || before[len(before)-1] <= chunks[k][0] {
			continue
		}
		chunks[k-1] = append(before[:len(before)-1], chunks[k][1:]...)
		chunks = append(chunks[:k], chunks[k+1:]...)
	}
	return chunks
}

// Match tells whether the whole of s fits the pattern.
func (g *Pattern) Match(s string) bool {
	if g.plain {
		return s == g.text
	}
	item, pos := 0, 0
	starItem, starPos := -1, 0
	for pos < len(s) {
		if item < len(g.items) {
			if g.items[item].kind == anyRun {
				starItem, starPos = item, pos
				item++
				continue
			}
			r, size := utf8.DecodeRuneInString(s[pos:])
			if g.items[item].matches(r) {
				item++
				pos += size
				continue
			}
		}
		if starItem < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(s[starPos:])
		starPos += size
		item, pos = starItem+1, starPos
	}
	for item < len(g.items) && g.items[item].kind == anyRun {
		item++
	}
	return item == len(g.items)
}

// Work is how many steps a match takes at most.
func (g *Pattern) Work(s string) int {
	if g.plain {
		return 1
	}
	return len(g.text) * len(s)
}

func (it *piece) matches(r rune) bool {
	switch it.kind {
	case oneRune:
		return r == it.r
	case anyRune:
		return true
	case oneOf:
		return it.set.has(r)
	}
	return false
}

// Match is fnmatch.fnmatchcase: compile and match in one.
func Match(pattern, s string) bool { return Compile(pattern).Match(s) }
