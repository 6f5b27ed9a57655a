package top

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"brine/supervisor/stats"
)

// Tree shows one daemon, or one actor with its descendants, as a table for people and pipes. The table is at
// most width cells wide; 0 means any width.
func Tree(root stats.Child, now time.Time, width int) string {
	return table([]stats.Child{root}, now, width)
}

// Once shows one look as plain text, with the content of the screen. Its table is at most width cells wide; 0
// means any width.
func Once(title string, look *Look, width int) string {
	m := newModel(context.Background(), Options{Title: title, Plain: true})
	m.take(look)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", title, strings.Join(look.Facts, "  "))
	b.WriteString(strings.Join(m.sumTexts(), " · ") + "\n")
	for _, s := range look.Silent {
		b.WriteString("silent: " + clean(s) + "\n")
	}
	return b.String() + "\n" + table(look.Roots, look.At, width)
}

// textColumn is one column of the table. If the width is too small, the column with the highest rank is left
// out first.
type textColumn struct {
	title string
	short string // the title for a small width
	rank  int
	cells []string
}

// width is the width of the column's widest cell.
func (c textColumn) width() int {
	n := len(c.title)
	for _, cell := range c.cells {
		n = max(n, utf8.RuneCountInString(cell))
	}
	return n
}

// deathRoom is the width that last deaths keep before columns are left out. Longer texts are cut.
const deathRoom = 24

func table(roots []stats.Child, now time.Time, width int) string {
	cols := textColumns()
	list := rows(&Look{Roots: roots})
	for _, r := range list {
		cells := textCells(r, now)
		for i := range cols {
			cell := ""
			if i < len(cells) {
				cell = cells[i]
			}
			cols[i].cells = append(cols[i].cells, cell)
		}
	}
	if width > 0 {
		cols = narrowed(cols, width)
	}
	widths := make([]int, len(cols))
	for i, c := range cols {
		widths[i] = c.width()
	}
	var b strings.Builder
	for i := -1; i < len(list); i++ {
		b.WriteString(tableLine(cols, widths, i, width) + "\n")
	}
	return TrimLines(b.String())
}

// textColumns are the empty columns of the table, with the ranks that they have on the screen.
func textColumns() []textColumn {
	return []textColumn{
		{title: "ACTOR", rank: -1}, {title: "STATE", rank: 3}, {title: "AGE", rank: 5},
		{title: "RESTARTS", short: "RST", rank: 2},
		{title: "WAITING", short: "WAIT", rank: 0},
		{title: "OLDEST", rank: 6}, {title: "MSG/S", rank: 1}, {title: "BUSY", rank: 4}, {title: "P99", rank: 7},
		{title: "FAILED", rank: 8},
		{title: "LAST DEATH", rank: -1},
	}
}

// textCells returns the cells of one row, in the order of the columns. A daemon has few cells, because it has
// no mailbox.
func textCells(r *row, now time.Time) []string {
	cells := []string{r.tree + clean(r.Name), r.State, since(r.Since, now)}
	if r.root && len(r.Children) > 0 && r.PID == "" {
		return cells
	}
	return append(cells, fmt.Sprint(r.Restarts), fmt.Sprint(r.Mailbox), oldest(r, nil), perSecond(r.Rate),
		percent(r.Busy), p99(r.Handling), fmt.Sprint(r.Failed+r.Lost), r.death(now))
}

// narrowed uses short titles and leaves out columns until the table fits into width cells.
func narrowed(cols []textColumn, width int) []textColumn {
	for i, c := range cols {
		if c.short != "" && tableWidth(cols) > width {
			cols[i].title = c.short
		}
	}
	for tableWidth(cols) > width {
		least := 0
		for i, c := range cols {
			if c.rank > cols[least].rank {
				least = i
			}
		}
		if least == 0 {
			break
		}
		cols = slices.Delete(cols, least, least+1)
	}
	return cols
}

// tableWidth is the width of a whole line. It counts a part of the last column only, because last deaths may be
// cut.
func tableWidth(cols []textColumn) int {
	n := 0
	for _, c := range cols[:len(cols)-1] {
		n += c.width() + 2
	}
	return n + min(cols[len(cols)-1].width(), deathRoom)
}

// tableLine writes row i of the table, or the titles for -1. It cuts the line to width cells unless width is 0.
func tableLine(cols []textColumn, widths []int, i, width int) string {
	var b strings.Builder
	for n, c := range cols {
		cell := c.title
		if i >= 0 {
			cell = c.cells[i]
		}
		b.WriteString(fit(cell, widths[n], false) + "  ")
	}
	line := strings.TrimRight(b.String(), " ")
	if width > 0 && utf8.RuneCountInString(line) > width {
		line = fit(line, width, false)
	}
	return line
}

// TrimLines removes spaces at the ends of lines.
func TrimLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
