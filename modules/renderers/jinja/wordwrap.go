package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/modules/renderers/jinja/py"
)

func wordwrap(r *run, a []any) (any, error) {
	if err := undefinedIn(a[0]); err != nil {
		return nil, err
	}
	s, ok := py.Text(a[0])
	if !ok {
		return nil, py.Errorf("AttributeError", "'%s' object has no attribute 'splitlines'", py.TypeName(a[0]))
	}
	width, err := intOf(a[1])
	if err != nil {
		return nil, err
	}
	long, err := py.Truth(a[2])
	if err != nil {
		return nil, err
	}
	between := "\n"
	if a[3] != nil {
		if between, err = py.Str(r.work, a[3]); err != nil {
			return nil, err
		}
	}
	hyphens, err := py.Truth(a[4])
	if err != nil {
		return nil, err
	}
	if width <= 0 && s != "" {
		return nil, py.Errorf("ValueError", "invalid width %d (must be > 0)", width)
	}
	var lines []string
	for _, line := range py.Lines(s, false) {
		if err := r.work.Grow(2 * len(line) * (1 + len(between))); err != nil {
			return nil, err
		}
		lines = append(lines, strings.Join(wrapLine(line, width, long, hyphens), between))
	}
	return strings.Join(lines, between), nil
}

// wrapLine breaks one line as Python's textwrap does.
func wrapLine(line string, width int, long, hyphens bool) []string {
	chunks := wrapChunks(line, hyphens)
	var out []string
	for len(chunks) > 0 {
		if len(out) > 0 && strings.TrimSpace(chunks[0]) == "" {
			chunks = chunks[1:]
		}
		var cur []string
		n := 0
		for len(chunks) > 0 {
			l := utf8.RuneCountInString(chunks[0])
			if n+l > width {
				break
			}
			cur, n, chunks = append(cur, chunks[0]), n+l, chunks[1:]
		}
		if len(chunks) > 0 && utf8.RuneCountInString(chunks[0]) > width {
			// Python's textwrap takes nothing of the word into a full line, and keeps that line's last blank
			room := width - n
			switch r := []rune(chunks[0]); {
			case long:
				if i := lastHyphen(r, room); hyphens && i > 0 {
					room = i
				}
				cur, chunks[0] = append(cur, string(r[:room])), string(r[room:])
			case len(cur) == 0:
				cur, chunks = append(cur, chunks[0]), chunks[1:]
			}
		}
		if k := len(cur) - 1; k >= 0 && strings.TrimSpace(cur[k]) == "" {
			cur = cur[:k]
		}
		if len(cur) > 0 {
			out = append(out, strings.Join(cur, ""))
		}
	}
	return out
}

// lastHyphen is where a long word may be broken behind a hyphen within its first n characters, 0 for nowhere.
func lastHyphen(r []rune, n int) int {
	if len(r) <= n {
		return 0
	}
	for i := n - 1; i > 0; i-- {
		if r[i] == '-' {
			for _, c := range r[:i] {
				if c != '-' {
					return i + 1
				}
			}
			return 0
		}
	}
	return 0
}

// wrapChunks cuts a line into words, white space, and parts of words behind hyphens.
func wrapChunks(line string, hyphens bool) []string {
	var out []string
	for line != "" {
		r, _ := utf8.DecodeRuneInString(line)
		space := unicode.IsSpace(r)
		n := strings.IndexFunc(line, func(c rune) bool { return unicode.IsSpace(c) != space })
		if n < 0 {
			n = len(line)
		}
		if space || !hyphens {
			out = append(out, line[:n])
		} else {
			out = append(out, hyphenated(line[:n])...)
		}
		line = line[n:]
	}
	return out
}

// hyphenated breaks a word behind hyphens that stand between letters.
func hyphenated(word string) []string {
	var out []string
	r := []rune(word)
	start := 0
	for i := 1; i < len(r)-1; i++ {
		before := i-start >= 2 && unicode.IsLetter(r[i-1]) && (unicode.IsLetter(r[i-2]) || unicode.IsDigit(r[i-2]))
		after := i+2 < len(r) && unicode.IsLetter(r[i+1]) && (unicode.IsLetter(r[i+2]) || r[i+2] == '-')
		if r[i] == '-' && before && after {
			out = append(out, string(r[start:i+1]))
			start = i + 1
		}
	}
	return append(out, string(r[start:]))
}
