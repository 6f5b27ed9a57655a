package matchers

import (
	"strings"
	"unicode/utf8"
)

// Glob is a compiled pattern of Python's fnmatch: "*", "?", "[seq]", "[!seq]"; case counts, nothing escapes.
type Glob struct {
	items []globItem
	text  string // the pattern itself when it has no special character
	plain bool
}

type globKind uint8

const (
	globRune globKind = iota
	globAny
	globStar
	globSet
	globNever
)

// globItem matches one character, or any run of them (globStar).
type globItem struct {
	kind globKind
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

// HasGlob tells whether a pattern has a special character: without one it matches itself alone.
func HasGlob(pattern string) bool { return strings.ContainsAny(pattern, "*?[") }

// CompileGlob reads a pattern. Every text is a pattern: a bracket that is not closed stands for itself.
func CompileGlob(pattern string) *Glob {
	g := &Glob{text: pattern, plain: !HasGlob(pattern)}
	if g.plain {
		return g
	}
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; c {
		case '*':
			if n := len(g.items); n == 0 || g.items[n-1].kind != globStar {
				g.items = append(g.items, globItem{kind: globStar})
			}
		case '?':
			g.items = append(g.items, globItem{kind: globAny})
		case '[':
			item, next := globBracket(runes, i)
			g.items = append(g.items, item)
			i = next
		default:
			g.items = append(g.items, globItem{kind: globRune, r: c})
		}
	}
	return g
}

// globBracket reads "[...]" at i and returns the item with the index of its last character.
func globBracket(p []rune, i int) (globItem, int) {
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
		return globItem{kind: globRune, r: '['}, i
	}
	return globClass(p[start:j]), j
}

// globClass makes the item for the inside of brackets. Ranges whose ends are in the wrong order hold nothing.
func globClass(stuff []rune) globItem {
	set := &runeSet{}
	if stuff[0] == '!' {
		set.negate = true
		stuff = stuff[1:]
	}
	set.ranges = globRanges(globChunks(stuff))
	switch {
	case len(set.ranges) > 0:
		return globItem{kind: globSet, set: set}
	case set.negate:
		return globItem{kind: globAny}
	}
	return globItem{kind: globNever}
}

// globRanges reads chunks joined by range hyphens the way a regular expression's set is read: from left to
// right, so that a character that ended a range begins no other.
func globRanges(chunks [][]rune) [][2]rune {
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

// globChunks cuts the inside of brackets at the hyphens that mean a range: the last character of a chunk and the
// first of the next are its ends. A hyphen at either side stands for itself; empty ranges are taken out.
func globChunks(stuff []rune) [][]rune {
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
func (g *Glob) Match(s string) bool {
	if g.plain {
		return s == g.text
	}
	item, pos := 0, 0
	starItem, starPos := -1, 0
	for pos < len(s) {
		if item < len(g.items) {
			if g.items[item].kind == globStar {
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
	for item < len(g.items) && g.items[item].kind == globStar {
		item++
	}
	return item == len(g.items)
}

// work is how many steps a match takes at most.
func (g *Glob) work(s string) int {
	if g.plain {
		return 1
	}
	return len(g.text) * len(s)
}

func (it *globItem) matches(r rune) bool {
	switch it.kind {
	case globRune:
		return r == it.r
	case globAny:
		return true
	case globSet:
		return it.set.has(r)
	}
	return false
}

// GlobMatch is fnmatch.fnmatchcase: compile and match in one.
func GlobMatch(pattern, s string) bool { return CompileGlob(pattern).Match(s) }
