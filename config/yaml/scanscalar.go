package yaml

import (
	"strings"
	"unicode/utf8"
)

// blockScalar reads a text after "|" or ">".
func (s *scanner) blockScalar(literal bool) {
	const context = "while scanning a block scalar"
	start := s.mark
	s.skip(1)
	chomp, increment := s.blockHeader(start)
	if s.err == nil && s.pos < len(s.src) && s.breakAt(s.pos) == 0 {
		s.fail(context, start, "did not find expected comment or line break")
	}
	if s.err != nil {
		return
	}
	s.skipBreak()
	indent := 0
	if increment > 0 {
		indent = max(s.indent, 0) + increment
	}
	end := s.mark
	var out strings.Builder
	lead, breaks, wasBlank := "", s.blockBreaks(&indent, start, &end), false
	for s.err == nil && s.mark.column == indent && s.pos < len(s.src) {
		isBlank := s.isBlank(s.pos)
		switch {
		case literal || lead != "\n" || wasBlank || isBlank:
			out.WriteString(lead)
		case breaks == "":
			out.WriteByte(' ')
		}
		out.WriteString(breaks)
		wasBlank = isBlank
		from := s.pos
		s.skipRest()
		out.WriteString(s.src[from:s.pos])
		lead = ""
		end = s.mark
		if s.pos < len(s.src) {
			lead = s.readBreak()
		}
		breaks = s.blockBreaks(&indent, start, &end)
	}
	if chomp != '-' {
		out.WriteString(lead)
	}
	if chomp == '+' {
		out.WriteString(breaks)
	}
	s.add(token{kind: tokScalar, start: start, end: end, text: out.String()})
}

// blockHeader reads the indicators after "|" or ">": how to treat the last line ends, and the indentation.
func (s *scanner) blockHeader(start mark) (chomp byte, increment int) {
	for range 2 {
		if s.pos >= len(s.src) {
			break
		}
		switch c := s.src[s.pos]; {
		case (c == '+' || c == '-') && chomp == 0:
			chomp = c
		case c == '0' && increment == 0:
			s.fail("while scanning a block scalar", start, "found an indentation indicator equal to 0")
			return
		case isDigit(c) && increment == 0:
			increment = int(c - '0')
		default:
			continue
		}
		s.skip(1)
	}
	for s.isBlank(s.pos) {
		s.skip(1)
	}
	s.skipComment()
	return chomp, increment
}

// blockBreaks reads indentation and empty lines. If the indentation is unknown (0), it determines it.
func (s *scanner) blockBreaks(indent *int, start mark, end *mark) string {
	var out []byte
	deepest := 0
	*end = s.mark
	for {
		for (*indent == 0 || s.mark.column < *indent) && s.pos < len(s.src) && s.src[s.pos] == ' ' {
			s.skip(1)
		}
		deepest = max(deepest, s.mark.column)
		if (*indent == 0 || s.mark.column < *indent) && s.pos < len(s.src) && s.src[s.pos] == '\t' {
			s.fail("while scanning a block scalar", start, "found a tab character where an indentation space is "+
				"expected")
			return ""
		}
		if s.breakAt(s.pos) == 0 {
			break
		}
		out = append(out, s.readBreak()...)
		*end = s.mark
	}
	if *indent == 0 {
		*indent = max(deepest, s.indent+1, 1)
	}
	return string(out)
}

// folding collects the white space between the words of a quoted or plain scalar.
type folding struct {
	spaces string // within a line
	lead   string // the first line end
	breaks []byte // the line ends after it
	broken bool   // a line has ended
}

// join is the text that replaces the white space.
func (f *folding) join() string {
	switch {
	case !f.broken:
		return f.spaces
	case f.lead != "\n":
		return f.lead + string(f.breaks)
	case len(f.breaks) == 0:
		return " "
	}
	return string(f.breaks)
}

// fold reads white space and line ends. It returns false if check refuses a character.
func (s *scanner) fold(f *folding, check func() bool) bool {
	for from := s.pos; ; {
		switch {
		case s.isBlank(s.pos):
			if check != nil && !check() {
				return false
			}
			s.skip(1)
			if !f.broken {
				f.spaces = s.src[from:s.pos]
			}
		case s.breakAt(s.pos) > 0:
			if line := s.readBreak(); f.broken {
				f.breaks = append(f.breaks, line...)
			} else {
				f.lead, f.broken = line, true
			}
		default:
			return true
		}
	}
}

// quoted reads a text in quotes.
func (s *scanner) quoted(quote byte) {
	const context = "while scanning a quoted scalar"
	start := s.mark
	s.skip(1)
	var out strings.Builder
	for {
		if s.documentIndicator() {
			s.fail(context, start, "found unexpected document indicator")
			return
		}
		if s.pos >= len(s.src) {
			s.fail(context, start, "found unexpected end of stream")
			return
		}
		f := folding{}
		f.broken = s.quotedWords(quote, start, &out)
		if s.err != nil {
			return
		}
		if s.pos < len(s.src) && s.src[s.pos] == quote {
			break
		}
		s.fold(&f, nil)
		out.WriteString(f.join())
	}
	s.skip(1)
	s.add(token{kind: tokScalar, start: start, end: s.mark, text: out.String()})
}

// quotedWords reads until white space or the closing quote. It tells whether it ended at an escaped line end.
func (s *scanner) quotedWords(quote byte, start mark, out *strings.Builder) bool {
	for !s.blankOrEnd(s.pos) {
		c := s.src[s.pos]
		switch {
		case c == '\'' && quote == '\'' && s.has("''"):
			out.WriteByte('\'')
			s.skip(2)
		case c == quote:
			return false
		case c == '\\' && quote == '"' && s.breakAt(s.pos+1) > 0:
			s.skip(1)
			s.skipBreak()
			return true
		case c == '\\' && quote == '"':
			if s.escape(start, out); s.err != nil {
				return false
			}
		default:
			from := s.pos
			s.skipChar()
			out.WriteString(s.src[from:s.pos])
		}
	}
	return false
}

// escapes are the characters after a backslash and their meanings, in pairs.
var escapes = strings.NewReplacer("0", "\x00", "a", "\a", "b", "\b", "t", "\t", "\t", "\t", "n", "\n", "v", "\v", "f",
	"\f", "r", "\r", "e", "\x1b", " ", " ", `"`, `"`, "/", "/", `\`, `\`, "N", "\u0085", "_", "\u00a0", "L", "\u2028",
	"P", "\u2029")

// escape reads a backslash and the characters that belong to it.
func (s *scanner) escape(start mark, out *strings.Builder) {
	const context = "while parsing a quoted scalar"
	digits := 0
	sign := byte(0)
	if s.pos+1 < len(s.src) {
		sign = s.src[s.pos+1]
	}
	switch {
	case sign == 'x':
		digits = 2
	case sign == 'u':
		digits = 4
	case sign == 'U':
		digits = 8
	case sign != 0 && strings.IndexByte("0abt\tnvfre \"/\\N_LP", sign) >= 0:
		out.WriteString(escapes.Replace(string(rune(sign))))
		s.skip(2)
		return
	default:
		s.fail(context, start, "found unknown escape character")
		return
	}
	s.skip(2)
	value := uint32(0)
	for i := range digits {
		d, ok := byte(0), false
		if s.pos+i < len(s.src) {
			d, ok = hexDigit(s.src[s.pos+i])
		}
		if !ok {
			s.fail(context, start, "did not find expected hexdecimal number")
			return
		}
		value = value<<4 | uint32(d)
	}
	if value >= 0xd800 && value <= 0xdfff || value > utf8.MaxRune {
		s.fail(context, start, "found invalid Unicode character escape code")
		return
	}
	out.WriteRune(rune(value))
	s.skip(digits)
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// plain reads a text without quotes. Most of these texts are on one line and need no copy.
func (s *scanner) plain() {
	const context = "while scanning a plain scalar"
	start, end, indent := s.mark, s.mark, s.indent+1
	var out strings.Builder
	text, words, broken := "", 0, false
	f := folding{}
	noTab := func() bool {
		if f.broken && s.mark.column < indent && s.src[s.pos] == '\t' {
			s.fail(context, start, "found a tab character that violates indentation")
			return false
		}
		return true
	}
	for !s.documentIndicator() && (s.pos >= len(s.src) || s.src[s.pos] != '#') {
		from := s.pos
		s.plainWord(start)
		if s.err != nil {
			return
		}
		if s.pos > from {
			word := s.src[from:s.pos]
			switch words++; words {
			case 1:
				text = word
			case 2:
				out.WriteString(text)
				fallthrough
			default:
				out.WriteString(f.join())
				out.WriteString(word)
			}
			end, f, broken = s.mark, folding{}, false
		}
		if !s.isBlank(s.pos) && s.breakAt(s.pos) == 0 {
			break
		}
		if !s.fold(&f, noTab) {
			return
		}
		broken = f.broken
		if s.level == 0 && s.mark.column < indent {
			break
		}
	}
	if words > 1 {
		text = out.String()
	}
	if broken {
		s.keyAllowed = true
	}
	s.add(token{kind: tokScalar, plain: true, start: start, end: end, text: text})
}

// plainWord reads until white space or the end of the plain scalar.
func (s *scanner) plainWord(start mark) {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case ' ', '\t':
			return
		case ':':
			if s.blankOrEnd(s.pos + 1) {
				return
			}
			if s.level > 0 && strings.IndexByte(",?[]{}", s.src[s.pos+1]) >= 0 {
				s.fail("while scanning a plain scalar", start, "found unexpected ':'")
				return
			}
		case ',', '[', ']', '{', '}':
			if s.level > 0 {
				return
			}
		case '\n', '\r', 0xc2, 0xe2:
			if s.breakAt(s.pos) > 0 {
				return
			}
		}
		s.skipChar()
	}
}
