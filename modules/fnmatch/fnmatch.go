// Package fnmatch is Python's fnmatch.fnmatchcase: shell globs over whole texts, where * crosses dots and
// slashes, [!x] negates a set and a bracket without end stands for itself.
package fnmatch

import (
	"strings"
	"unicode/utf8"
)

// Match tells whether pattern matches the whole of name.
func Match(pattern, name string) bool {
	starPattern, starName := "", ""
	starred := false
	for {
		if pattern == "" && name == "" {
			return true
		}
		if strings.HasPrefix(pattern, "*") {
			pattern = pattern[1:]
			starPattern, starName, starred = pattern, name, true
			continue
		}
		if rest, ok := one(pattern, name); ok && name != "" {
			_, n := utf8.DecodeRuneInString(name)
			pattern, name = rest, name[n:]
			continue
		}
		if !starred || starName == "" {
			return false
		}
		_, n := utf8.DecodeRuneInString(starName)
		starName = starName[n:]
		pattern, name = starPattern, starName
	}
}

// one matches the first rune of name against the first element of pattern and returns the pattern behind it.
func one(pattern, name string) (string, bool) {
	if pattern == "" || name == "" {
		return pattern, false
	}
	r, _ := utf8.DecodeRuneInString(name)
	p, n := utf8.DecodeRuneInString(pattern)
	switch p {
	case '?':
		return pattern[n:], true
	case '[':
		if set, rest, ok := bracket(pattern); ok {
			return rest, inSet(set, r)
		}
	}
	return pattern[n:], p == r
}

// bracket cuts "[...]" off the front; a ] in the first place belongs to the set.
func bracket(pattern string) (set, rest string, ok bool) {
	i := 1
	if i < len(pattern) && pattern[i] == '!' {
		i++
	}
	if i < len(pattern) && pattern[i] == ']' {
		i++
	}
	end := strings.IndexByte(pattern[min(i, len(pattern)):], ']')
	if end < 0 {
		return "", "", false
	}
	return pattern[1 : i+end], pattern[i+end+1:], true
}

func inSet(set string, r rune) bool {
	negated := strings.HasPrefix(set, "!")
	runes := []rune(strings.TrimPrefix(set, "!"))
	for i := 0; i < len(runes); i++ {
		if i+2 < len(runes) && runes[i+1] == '-' {
			if runes[i] <= r && r <= runes[i+2] {
				return !negated
			}
			i += 2
			continue
		}
		if runes[i] == r {
			return !negated
		}
	}
	return negated
}
