package dates

import (
	"strings"
	"unicode"
)

// kind is what a token consists of.
type kind int

const (
	nothing kind = iota
	letters
	digits
	dottedLetters // letters first, then a dot: it may turn out to be several tokens
	dottedDigits
)

// lexer cuts a text into runs of letters and runs of digits; all else stands for itself. Dots separate ("Sep.20.2009"),
// but for the one in a number (30.5).
type lexer struct {
	text   []rune
	at     int
	state  kind
	token  strings.Builder
	seen   bool // letters
	tokens []string
}

func split(text string) []string {
	x := &lexer{text: []rune(strings.ReplaceAll(text, "\x00", ""))}
	for x.at < len(x.text) {
		x.next()
	}
	return x.tokens
}

// next reads one run.
func (x *lexer) next() {
	x.token.Reset()
	x.state, x.seen = nothing, false
	for x.at < len(x.text) && x.takes(x.text[x.at]) {
		x.at++
	}
	x.emit(x.token.String())
}

// takes adds a character to the run, or says that the run has ended before it.
func (x *lexer) takes(r rune) bool {
	word, num := unicode.IsLetter(r), unicode.IsDigit(r)
	last := x.last()
	next := x.state
	switch x.state {
	case nothing:
		if last != 0 {
			return false
		}
		next = first(word, num)
		if unicode.IsSpace(r) {
			r = ' '
		}
	case letters:
		x.seen = true
		if !word && r != '.' {
			return false
		}
		if r == '.' {
			next = dottedLetters
		}
	case digits:
		comma := r == ',' && x.token.Len() >= 2
		if !num && r != '.' && !comma {
			return false
		}
		if !num {
			next = dottedDigits
		}
	case dottedLetters:
		x.seen = true
		if num && last == '.' {
			next = dottedDigits
		} else if r != '.' && !word {
			return false
		}
	case dottedDigits:
		if word && last == '.' {
			next = dottedLetters
		} else if r != '.' && !num {
			return false
		}
	}
	x.state = next
	x.token.WriteRune(r)
	return true
}

func first(word, num bool) kind {
	switch {
	case word:
		return letters
	case num:
		return digits
	}
	return nothing
}

func (x *lexer) last() byte {
	s := x.token.String()
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// emit adds a run to the tokens, in its parts where the dots in it separate.
func (x *lexer) emit(token string) {
	dotted := x.state == dottedLetters || x.state == dottedDigits
	if dotted && (x.seen || strings.Count(token, ".") > 1 || strings.ContainsRune(".,", rune(x.last()))) {
		for i, part := range parts(token) {
			if part != "" || i == 0 {
				x.tokens = append(x.tokens, part)
			}
		}
		return
	}
	if x.state == dottedDigits && !strings.Contains(token, ".") {
		token = strings.ReplaceAll(token, ",", ".")
	}
	x.tokens = append(x.tokens, token)
}

// parts cuts at dots and commas, which stay as parts of their own.
func parts(token string) (out []string) {
	from := 0
	for i, r := range token {
		if r == '.' || r == ',' {
			out = append(out, token[from:i], token[i:i+1])
			from = i + 1
		}
	}
	return append(out, token[from:])
}
