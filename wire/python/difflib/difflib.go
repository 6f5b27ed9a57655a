// Package difflib compares two lists of lines as Python's difflib does: the same matching blocks and so the same hunks
// of a unified diff, lines that are popular being no anchors (autojunk). It knows no files. Answers to the classes and
// functions of that name in Python 3.11; there is no junk but what autojunk finds.
package difflib

import (
	"cmp"
	"slices"
)

// Match says that Size elements from A on in the first list are those from B on in the second.
type Match struct{ A, B, Size int }

// Kind is what becomes of a part of the first list.
type Kind byte

// Kinds of an Op.
const (
	Equal Kind = iota
	Replace
	Delete
	Insert
)

// Op says what becomes of first[I1:I2]: Replace and Insert put second[J1:J2] in its place.
type Op struct {
	Kind           Kind
	I1, I2, J1, J2 int
}

// Matcher compares two lists (SequenceMatcher(None, a, b)).
type Matcher struct {
	a, b []int32   // elements by number
	at   [][]int32 // places in b of an element by its number; none for a popular one
	runs [2][]int32
}

// From how many lines on an element is popular that makes up more than one of a hundred of them.
const popularFrom = 200

// New prepares the comparison of two lists.
func New(a, b []string) *Matcher {
	m := &Matcher{a: make([]int32, len(a)), b: make([]int32, len(b))}
	numbers := make(map[string]int32, len(b))
	for j, s := range b {
		n, known := numbers[s]
		if !known {
			n = int32(len(numbers))
			numbers[s] = n
			m.at = append(m.at, nil)
		}
		m.b[j] = n
		m.at[n] = append(m.at[n], int32(j))
	}
	if n := len(b); n >= popularFrom {
		for i, places := range m.at {
			if len(places) > n/100+1 {
				m.at[i] = nil
			}
		}
	}
	for i, s := range a {
		n, known := numbers[s]
		if !known {
			n = -1 // it equals nothing
		}
		m.a[i] = n
	}
	m.runs = [2][]int32{make([]int32, len(b)+1), make([]int32, len(b)+1)}
	return m
}

// longest is the longest matching block in a[alo:ahi] and b[blo:bhi]: of several the one that begins first in a, and
// of those the one that begins first in b.
func (m *Matcher) longest(alo, ahi, blo, bhi int) Match {
	best := Match{alo, blo, 0}
	before, now := m.runs[0], m.runs[1] // by place in b, plus one: how long the run is that ends there
	var last, places []int32
	for i := alo; i < ahi; i++ {
		places = nil
		if n := m.a[i]; n >= 0 {
			places = within(m.at[n], blo, bhi)
		}
		for _, j := range places {
			k := before[j] + 1
			now[j+1] = k
			if int(k) > best.Size {
				best = Match{i - int(k) + 1, int(j) - int(k) + 1, int(k)}
			}
		}
		for _, j := range last {
			before[j+1] = 0
		}
		before, now, last = now, before, places
	}
	for _, j := range last {
		before[j+1] = 0
	}
	return m.widened(best, alo, ahi, blo, bhi)
}

// within are those of sorted places that are in a range.
func within(places []int32, from, to int) []int32 {
	begin, _ := slices.BinarySearch(places, int32(from))
	end, _ := slices.BinarySearch(places, int32(to))
	return places[begin:end]
}

// widened adds to a block what equals at its ends, popular elements among them.
func (m *Matcher) widened(b Match, alo, ahi, blo, bhi int) Match {
	for b.A > alo && b.B > blo && m.a[b.A-1] == m.b[b.B-1] {
		b.A, b.B, b.Size = b.A-1, b.B-1, b.Size+1
	}
	for b.A+b.Size < ahi && b.B+b.Size < bhi && m.a[b.A+b.Size] == m.b[b.B+b.Size] {
		b.Size++
	}
	return b
}

// Blocks are all matching blocks in their order, and an empty one at the end of both lists.
func (m *Matcher) Blocks() []Match {
	type span struct{ alo, ahi, blo, bhi int }
	var found []Match
	left := []span{{0, len(m.a), 0, len(m.b)}}
	for len(left) > 0 {
		s := left[len(left)-1]
		left = left[:len(left)-1]
		x := m.longest(s.alo, s.ahi, s.blo, s.bhi)
		if x.Size == 0 {
			continue
		}
		found = append(found, x)
		if s.alo < x.A && s.blo < x.B {
			left = append(left, span{s.alo, x.A, s.blo, x.B})
		}
		if x.A+x.Size < s.ahi && x.B+x.Size < s.bhi {
			left = append(left, span{x.A + x.Size, s.ahi, x.B + x.Size, s.bhi})
		}
	}
	slices.SortFunc(found, func(x, y Match) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	var out []Match
	for _, x := range found {
		if n := len(out); n > 0 && out[n-1].A+out[n-1].Size == x.A && out[n-1].B+out[n-1].Size == x.B {
			out[n-1].Size += x.Size
			continue
		}
		out = append(out, x)
	}
	return append(out, Match{len(m.a), len(m.b), 0})
}

// Ops turn the first list into the second.
func (m *Matcher) Ops() []Op {
	var out []Op
	i, j := 0, 0
	for _, b := range m.Blocks() {
		switch {
		case i < b.A && j < b.B:
			out = append(out, Op{Replace, i, b.A, j, b.B})
		case i < b.A:
			out = append(out, Op{Delete, i, b.A, j, b.B})
		case j < b.B:
			out = append(out, Op{Insert, i, b.A, j, b.B})
		}
		i, j = b.A+b.Size, b.B+b.Size
		if b.Size > 0 {
			out = append(out, Op{Equal, b.A, i, b.B, j})
		}
	}
	return out
}

// Groups are the Ops with at most n equal elements around each change.
func (m *Matcher) Groups(n int) [][]Op {
	ops := m.Ops()
	if len(ops) == 0 {
		ops = []Op{{Equal, 0, 1, 0, 1}}
	}
	if o := &ops[0]; o.Kind == Equal {
		o.I1, o.J1 = max(o.I1, o.I2-n), max(o.J1, o.J2-n)
	}
	if o := &ops[len(ops)-1]; o.Kind == Equal {
		o.I2, o.J2 = min(o.I2, o.I1+n), min(o.J2, o.J1+n)
	}
	var out [][]Op
	var group []Op
	for _, o := range ops {
		if o.Kind == Equal && o.I2-o.I1 > 2*n {
			out = append(out, append(group, Op{Equal, o.I1, min(o.I2, o.I1+n), o.J1, min(o.J2, o.J1+n)}))
			group = nil
			o.I1, o.J1 = max(o.I1, o.I2-n), max(o.J1, o.J2-n)
		}
		group = append(group, o)
	}
	if len(group) > 0 && (len(group) > 1 || group[0].Kind != Equal) {
		out = append(out, group)
	}
	return out
}
