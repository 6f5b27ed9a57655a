package difflib

import (
	"fmt"
	"strings"
)

// context is how many equal lines are shown around a change.
const context = 3

// Unified are the lines of the unified diff of two lists of lines, each with its line end; none where they are equal.
// from and to are names, and may be empty.
func Unified(a, b []string, from, to string) []string {
	var out []string
	for i, group := range New(a, b).Groups(context) {
		if i == 0 {
			out = append(out, "--- "+from+"\n", "+++ "+to+"\n")
		}
		first, last := group[0], group[len(group)-1]
		out = append(out, "@@ -"+span(first.I1, last.I2)+" +"+span(first.J1, last.J2)+" @@\n")
		for _, o := range group {
			if o.Kind == Equal {
				out = marked(out, " ", a[o.I1:o.I2])
				continue
			}
			out = marked(marked(out, "-", a[o.I1:o.I2]), "+", b[o.J1:o.J2])
		}
	}
	return out
}

func marked(out []string, mark string, lines []string) []string {
	for _, line := range lines {
		out = append(out, mark+line)
	}
	return out
}

// span is a range of lines as ed has them: an empty one begins at the line before.
func span(from, to int) string {
	switch n := to - from; n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	default:
		return fmt.Sprintf("%d,%d", from+1, n)
	}
}

// Lines splits a text behind each \n, as a file in binary mode is read (readlines).
func Lines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// OfTexts is the unified diff of two texts, as one text; empty where they are equal.
func OfTexts(a, b, from, to string) string {
	return strings.Join(Unified(Lines(a), Lines(b), from, to), "")
}
