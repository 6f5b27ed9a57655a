package re

import "strings"

// Classes of ASCII characters, outside and inside of a set.
var (
	asciiClasses = map[byte]string{
		'w': `[a-zA-Z0-9_]`, 'W': `[^a-zA-Z0-9_]`, 'd': `[0-9]`, 'D': `[^0-9]`, 's': `[\x20\t-\r]`, 'S': `[^\x20\t-\r]`,
		'b': `(?:(?<![a-zA-Z0-9_])(?=[a-zA-Z0-9_])|(?<=[a-zA-Z0-9_])(?![a-zA-Z0-9_]))`,
		'B': `(?:(?<=[a-zA-Z0-9_])(?=[a-zA-Z0-9_])|(?<![a-zA-Z0-9_])(?![a-zA-Z0-9_]))`,
	}
	asciiInSets = map[byte]string{
		'w': `a-zA-Z0-9_`, 'W': "\\x00-/:-@\\[-\\^\\x60{-\U0010ffff", 'd': `0-9`, 'D': "\\x00-/:-\U0010ffff",
		's': `\x20\t-\r`, 'S': "\\x00-\\x08\\x0e-\\x1f!-\U0010ffff",
	}
)

// backtracking is the pattern for the engine that tries one way after another, whose classes know all letters: with
// (?a) they are written out.
func (t *translator) backtracking() string {
	expr := t.out.String()
	if !t.ascii {
		return expr
	}
	var out strings.Builder
	inSet := false
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case c == '\\' && i+1 < len(expr):
			classes := asciiClasses
			if inSet {
				classes = asciiInSets
			}
			i++
			if class, ok := classes[expr[i]]; ok {
				out.WriteString(class)
				continue
			}
			out.WriteByte(c)
			out.WriteByte(expr[i])
			continue
		case c == '[':
			inSet = true // one in a set has a backslash before it
		case c == ']':
			inSet = false
		}
		out.WriteByte(expr[i])
	}
	return out.String()
}

// withFlags puts flags before a pattern, beside those at its very start; letters are all of them then.
func withFlags(expr, letters string) (whole, all string) {
	for {
		own, rest, ok := strings.Cut(strings.TrimPrefix(expr, "(?"), ")")
		if !ok || !strings.HasPrefix(expr, "(?") || own == "" || strings.Trim(own, "aiLmsux") != "" {
			break
		}
		for _, letter := range own {
			if !strings.ContainsRune(letters, letter) {
				letters += string(letter)
			}
		}
		expr = rest
	}
	if letters == "" {
		return expr, ""
	}
	return "(?" + letters + ")" + expr, letters
}
