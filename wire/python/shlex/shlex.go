// Package shlex splits a command line into words by the rules of a POSIX shell, without expanding anything, as
// Python's shlex.split does. It answers to the shlex_split of salt/utils/args.py.
package shlex

import (
	"errors"
	"strings"
)

// ErrNoClosingQuote means a quotation does not end.
var ErrNoClosingQuote = errors.New("No closing quotation")

// ErrNoEscaped means a backslash is the last character.
var ErrNoEscaped = errors.New("No escaped character")

type splitter struct {
	words  []string
	word   strings.Builder
	inWord bool
}

// Split cuts s at blanks outside of quotes. A quoted empty text is a word.
func Split(s string) ([]string, error) {
	var sp splitter
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n':
			sp.end()
		case '\\':
			i++
			if i == len(s) {
				return nil, ErrNoEscaped
			}
			sp.add(s[i])
		case '\'', '"':
			n, err := sp.quoted(s[i+1:], c)
			if err != nil {
				return nil, err
			}
			i += n
		default:
			sp.add(c)
		}
	}
	sp.end()
	return sp.words, nil
}

func (sp *splitter) add(c byte) {
	sp.word.WriteByte(c)
	sp.inWord = true
}

func (sp *splitter) end() {
	if sp.inWord {
		sp.words = append(sp.words, sp.word.String())
	}
	sp.word.Reset()
	sp.inWord = false
}

// quoted reads up to the closing quote and returns how many bytes that took. Inside double quotes a backslash
// escapes itself and the quote.
func (sp *splitter) quoted(s string, quote byte) (int, error) {
	sp.inWord = true
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return i + 1, nil
		case c == '\\' && quote == '"':
			i++
			if i == len(s) {
				return 0, ErrNoEscaped
			}
			if s[i] != '"' && s[i] != '\\' {
				sp.word.WriteByte('\\')
			}
			sp.word.WriteByte(s[i])
		default:
			sp.word.WriteByte(c)
		}
	}
	return 0, ErrNoClosingQuote
}

// Quote writes a word so that a shell reads it back as one, as Python's shlex.quote does: plain words stay as
// they are.
func Quote(s string) string {
	if s == "" {
		return "''"
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
}
