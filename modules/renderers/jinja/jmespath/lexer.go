package jmespath

import (
	"encoding/json"
	"strconv"
	"strings"

	"brine/modules/renderers/jinja/py"
)

// token is one sign of an expression. Its kind is Python's name for it, which errors show.
type token struct {
	kind  string
	value any // what errors show: the text, or the value of a number or literal
	start int // characters before it
}

// signs are the tokens of one character.
const signs = ".dot *star ]rbracket ,comma :colon @current (lparen )rparen {lbrace }rbrace"

// pairs are those that a second character makes another: the first, the second, their name together, that of the first
// alone.
var pairs = []struct {
	first, second   rune
	both, firstOnly string
}{
	{'|', '|', "or", "pipe"}, {'&', '&', "and", "expref"}, {'<', '=', "lte", "lt"}, {'>', '=', "gte", "gt"},
	{'!', '=', "ne", "not"}, {'[', ']', "flatten", "lbracket"}, {'[', '?', "filter", "lbracket"},
}

type lexer struct {
	text  string
	chars []rune
	pos   int
	out   []token
	json  func(text string) (any, error)
}

// lex cuts an expression into tokens; the last one is eof.
func (x *lexer) lex() ([]token, error) {
	for x.pos < len(x.chars) {
		if err := x.one(); err != nil {
			return nil, err
		}
	}
	x.add("eof", "", len(x.chars))
	return x.out, nil
}

func (x *lexer) add(kind string, value any, start int) {
	x.out = append(x.out, token{kind, value, start})
}

// fail is an error of a sign that is none.
func (x *lexer) fail(at int, format string, a ...any) error {
	what := py.Errorf("LexerError", format, a...).Error()
	return py.Errorf("LexerError", "Bad jmespath expression: %s:\n%s\n%s^", what, x.text, strings.Repeat(" ", at))
}

func (x *lexer) peek() rune {
	if x.pos+1 < len(x.chars) {
		return x.chars[x.pos+1]
	}
	return -1
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

func isLetter(c rune) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// one reads one token, or a blank.
func (x *lexer) one() error {
	c, start := x.chars[x.pos], x.pos
	switch {
	case strings.ContainsRune(" \t\n\r", c):
		x.pos++
		return nil
	case isLetter(c):
		for x.pos < len(x.chars) && (isLetter(x.chars[x.pos]) || isDigit(x.chars[x.pos])) {
			x.pos++
		}
		x.add("unquoted_identifier", string(x.chars[start:x.pos]), start)
		return nil
	case isDigit(c) || c == '-':
		return x.number()
	case c == '\'' || c == '`' || c == '"':
		return x.quoted(c)
	}
	for name := range strings.FieldsSeq(signs) {
		if rune(name[0]) == c {
			x.pos++
			x.add(name[1:], string(c), start)
			return nil
		}
	}
	return x.pair(c, start)
}

func (x *lexer) pair(c rune, start int) error {
	next, alone := x.peek(), ""
	for _, p := range pairs {
		if p.first == c && p.second == next {
			x.pos += 2
			x.add(p.both, string(c)+string(next), start)
			return nil
		}
		if p.first == c {
			alone = p.firstOnly
		}
	}
	switch {
	case alone != "":
		x.pos++
		x.add(alone, string(c), start)
		return nil
	case c == '=' && next == '=':
		x.pos += 2
		x.add("eq", "==", start)
		return nil
	case c == '=':
		return x.fail(start, "Unknown token '='")
	}
	return x.fail(start, "Unknown token %c", c)
}

// number reads a whole number; one too large for 64 bits is as good as the largest, for it can only be an index.
func (x *lexer) number() error {
	start := x.pos
	x.pos++
	for x.pos < len(x.chars) && isDigit(x.chars[x.pos]) {
		x.pos++
	}
	text := string(x.chars[start:x.pos])
	if text == "-" {
		return x.fail(start, "Unknown token '-'")
	}
	n, _ := strconv.ParseInt(text, 10, 64) // the nearest one where it is too large
	x.add("number", n, start)
	return nil
}

// quoted reads a name, a text or a literal in JSON.
func (x *lexer) quoted(mark rune) error {
	start := x.pos
	for x.pos++; x.pos < len(x.chars) && x.chars[x.pos] != mark; x.pos++ {
		if x.chars[x.pos] == '\\' {
			x.pos++
		}
	}
	if x.pos >= len(x.chars) {
		return x.fail(start, "Unclosed %c delimiter", mark)
	}
	text := string(x.chars[start+1 : x.pos])
	x.pos++
	switch mark {
	case '\'':
		x.add("literal", strings.ReplaceAll(text, `\'`, "'"), start)
	case '"':
		var name string
		if err := json.Unmarshal([]byte(`"`+text+`"`), &name); err != nil {
			return x.fail(start, "%s", whyNotJSON(text))
		}
		x.add("quoted_identifier", name, start)
	default:
		text = strings.ReplaceAll(text, "\\`", "`")
		v, err := x.json(text)
		if err != nil { // an old way to write texts
			v, err = x.json(`"` + strings.TrimLeft(text, " \t\n\r\v\f") + `"`)
		}
		if err != nil {
			return x.fail(start, "Bad token %s", text)
		}
		x.add("literal", v, start)
	}
	return nil
}

// whyNotJSON is what Python's json says of a text between quotes that it does not read.
func whyNotJSON(text string) string {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ':
			return "Invalid control character at"
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != 'u' && !strings.ContainsRune(`"\/bfnrt`, rune(text[i])) {
				return `Invalid \escape`
			}
		}
	}
	return `Invalid \uXXXX escape`
}
