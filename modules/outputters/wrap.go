package outputters

import (
	"strings"
	"unicode"
)

// wrapWidth is the line length of wrapped warnings.
const wrapWidth = 80

// wrapText is Python's textwrap.fill with width 80 and the same indent on every line.
func wrapText(text string, indent int) string {
	lines := Wrap(text, wrapWidth-indent)
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", indent) + line
	}
	return strings.Join(lines, "\n")
}

// Wrap is Python's textwrap.wrap: lines of at most so many characters.
func Wrap(text string, width int) []string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\t\n\v\f\r", r) {
			return ' '
		}
		return r
	}, expandTabs(text))
	chunks := wrapChunks(text)
	var lines []string
	for len(chunks) > 0 {
		if len(lines) > 0 && strings.TrimSpace(chunks[0]) == "" {
			chunks = chunks[1:]
			continue
		}
		var line string
		line, chunks = wrapOneLine(chunks, width)
		if line = strings.TrimRight(line, " "); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// wrapOneLine takes as many chunks as fit, or a part of one that is too long for any line.
func wrapOneLine(chunks []string, room int) (line string, rest []string) {
	for len(chunks) > 0 && runeLen(line)+runeLen(chunks[0]) <= room {
		line += chunks[0]
		chunks = chunks[1:]
	}
	if len(chunks) == 0 || runeLen(chunks[0]) <= room {
		return line, chunks
	}
	runes := []rune(chunks[0])
	take := room - runeLen(line)
	if take < 1 {
		take = 1
		if line != "" {
			return line, chunks
		}
	}
	if cut := strings.LastIndex(string(runes[:take]), "-"); cut > 0 {
		before := []rune(string(runes[:take])[:cut])
		if strings.Trim(string(before), "-") != "" {
			take = len(before) + 1
		}
	}
	return line + string(runes[:take]), append([]string{string(runes[take:])}, chunks[1:]...)
}

// expandTabs is Python's str.expandtabs.
func expandTabs(s string) string {
	const tab = 8
	var b strings.Builder
	column := 0
	for _, r := range s {
		switch r {
		case '\t':
			n := tab - column%tab
			b.WriteString(strings.Repeat(" ", n))
			column += n
		case '\n', '\r':
			b.WriteRune(r)
			column = 0
		default:
			b.WriteRune(r)
			column++
		}
	}
	return b.String()
}

// wrapChunks cuts text into words and blanks; words also end behind a hyphen between letters.
func wrapChunks(text string) []string {
	var out []string
	runes := []rune(text)
	start := 0
	cut := func(end int) {
		if end > start {
			out = append(out, string(runes[start:end]))
			start = end
		}
	}
	for i := 1; i < len(runes); i++ {
		switch {
		case (runes[i] == ' ') != (runes[i-1] == ' '):
			cut(i)
		case runes[i-1] == '-' && hyphenBreak(runes, start, i):
			cut(i)
		}
	}
	cut(len(runes))
	return out
}

// hyphenBreak tells whether a line may end behind the hyphen at i-1: letters on both sides, two at least.
func hyphenBreak(runes []rune, start, i int) bool {
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	letter := func(r rune) bool { return word(r) && !unicode.IsDigit(r) }
	h := i - 1
	if h-2 < start || !letter(runes[h-1]) || !word(runes[h-2]) {
		return false
	}
	for j := i; j < len(runes) && word(runes[j]); j++ {
		if j > i && letter(runes[j]) {
			return true
		}
	}
	return false
}
