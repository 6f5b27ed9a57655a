package top

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// nameRoom is the width that other columns leave to long names. nameLeast is the least width of names.
const (
	nameRoom  = 28
	nameLeast = 12
)

// layout is the arrangement of a screen: the width of the names, and the columns after them.
type layout struct {
	name int
	cols []column
}

// arrange selects columns for a screen of width cells. natural is the width of the longest name.
func arrange(width, natural int) layout {
	l := layout{name: min(max(natural, nameLeast), nameRoom), cols: columns()}
	for l.used() > width && len(l.cols) > 1 {
		least := 0
		for i, c := range l.cols {
			if c.rank > l.cols[least].rank {
				least = i
			}
		}
		l.cols = slices.Delete(l.cols, least, least+1)
	}
	left := width - l.used()
	if left < 0 {
		l.name, left = max(l.name+left, 1), 0
	}
	more := min(max(natural-l.name, 0), max(left, 0))
	l.name, left = l.name+more, left-more
	for _, c := range tails() {
		if least := c.room(tails()); left >= least {
			l.cols, left = append(l.cols, c), left-c.width-1
		}
	}
	if end := &l.cols[len(l.cols)-1]; end.left && left > 0 {
		end.width, left = end.width+left, 0
	}
	l.name += max(left, 0)
	return l
}

// room is the width that a column of texts needs: its own, and that of more important columns to its right.
func (c column) room(all []column) int {
	n, right := c.width+1, false
	for _, other := range all {
		right = right || other.title == c.title
		if right && other.rank < c.rank {
			n += other.width + 1
		}
	}
	return n
}

func (l layout) used() int {
	n := l.name
	for _, c := range l.cols {
		n += c.width + 1
	}
	return n
}

// header is the line of titles. It marks the column that sorts.
func (l layout) header(sorted string, reverse bool) string {
	mark := "▼"
	if reverse {
		mark = "▲"
	}
	title := func(text string, on bool) string {
		if on {
			return text + mark
		}
		return text
	}
	var b strings.Builder
	b.WriteString(fit(title("ACTOR", sorted == sortName), l.name, false))
	for _, c := range l.cols {
		b.WriteByte(' ')
		b.WriteString(fit(title(c.title, c.key != "" && c.key == sorted), c.width, !c.left))
	}
	return b.String()
}

// line draws one row of the list. The selected row is highlighted as a whole.
func (m *model) line(l layout, r *row, selected bool) string {
	v := &view{now: m.now()}
	var b strings.Builder
	put := func(t tone, text string) {
		if selected {
			b.WriteString(text)
		} else {
			b.WriteString(m.paint(t, text))
		}
	}
	lines, name := m.name(r)
	lines = fit(lines, min(utf8.RuneCountInString(lines), l.name), false)
	put(dim, lines)
	put(pick(r.root, bold), fit(name, l.name-utf8.RuneCountInString(lines), false))
	for _, c := range l.cols {
		text, t := c.cell(r, v), plain
		if c.tone != nil {
			t = c.tone(r, v)
		}
		if r.root && c.title != "AGE" {
			text = ""
		}
		put(plain, " ")
		put(t, fit(text, c.width, !c.left))
	}
	if selected {
		return m.paint(inverse, b.String())
	}
	return b.String()
}

// name is the name of a row in the list: with the lines of the tree, or as a path.
func (m *model) name(r *row) (lines, name string) {
	if m.sort == sortTree {
		return r.tree, clean(r.Name)
	}
	return "", clean(r.flatName(len(m.look.Roots) == 1))
}

// natural is the width of the longest name in the list.
func (m *model) natural() int {
	n := 0
	for _, r := range m.shown {
		lines, name := m.name(r)
		n = max(n, utf8.RuneCountInString(lines)+utf8.RuneCountInString(name))
	}
	return n
}
