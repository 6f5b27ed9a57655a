package yaml

import (
	"strings"
	"unicode/utf8"
)

func isWordByte(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-'
}

// word reads letters, digits, "_" and "-".
func (s *scanner) word() string {
	from := s.pos
	for s.pos < len(s.src) && isWordByte(s.src[s.pos]) {
		s.skip(1)
	}
	return s.src[from:s.pos]
}

func (s *scanner) skipBlanks() {
	for s.isBlank(s.pos) {
		s.skip(1)
	}
}

// directive reads a line that begins with "%".
func (s *scanner) directive() {
	const context = "while scanning a directive"
	start := s.mark
	s.skip(1)
	name := s.word()
	var t token
	switch {
	case name == "":
		s.fail(context, start, "could not find expected directive name")
	case !s.blankOrEnd(s.pos):
		s.fail(context, start, "found unexpected non-alphabetical character")
	case name == "YAML":
		t = s.versionDirective(start)
	case name == "TAG":
		t = s.tagDirective(start)
	default:
		s.fail(context, start, "found unknown directive name")
	}
	if s.err != nil {
		return
	}
	t.start, t.end = start, s.mark
	s.skipBlanks()
	s.skipComment()
	if s.pos < len(s.src) && s.breakAt(s.pos) == 0 {
		s.fail(context, start, "did not find expected comment or line break")
		return
	}
	s.skipBreak()
	s.add(t)
}

func (s *scanner) versionDirective(start mark) token {
	const context = "while scanning a %YAML directive"
	s.skipBlanks()
	major := s.versionNumber(start)
	if s.err == nil && !s.has(".") {
		s.fail(context, start, "did not find expected digit or '.' character")
	}
	if s.err != nil {
		return token{}
	}
	s.skip(1)
	return token{kind: tokVersion, text: major + "." + s.versionNumber(start)}
}

func (s *scanner) versionNumber(start mark) string {
	const context, longest = "while scanning a %YAML directive", 9
	from := s.pos
	for s.pos < len(s.src) && isDigit(s.src[s.pos]) {
		if s.pos-from == longest {
			s.fail(context, start, "found extremely long version number")
			return ""
		}
		s.skip(1)
	}
	if s.pos == from {
		s.fail(context, start, "did not find expected version number")
		return ""
	}
	if number := strings.TrimLeft(s.src[from:s.pos], "0"); number != "" {
		return number
	}
	return "0"
}

func (s *scanner) tagDirective(start mark) token {
	const context = "while scanning a %TAG directive"
	s.skipBlanks()
	handle := s.tagHandle(true, start)
	if s.err == nil && !s.isBlank(s.pos) {
		s.fail(context, start, "did not find expected whitespace")
	}
	if s.err != nil {
		return token{}
	}
	s.skipBlanks()
	prefix := s.tagURI(true, true, "", start)
	if s.err == nil && !s.blankOrEnd(s.pos) {
		s.fail(context, start, "did not find expected whitespace or line break")
	}
	return token{kind: tokTagPrefix, text: handle, suffix: prefix}
}

func (s *scanner) anchor(alias bool) {
	context, kind := "while scanning an anchor", tokAnchor
	if alias {
		context, kind = "while scanning an alias", tokAlias
	}
	start := s.mark
	s.skip(1)
	name := s.word()
	if name == "" || !s.blankOrEnd(s.pos) && strings.IndexByte("?:,]}%@`", s.src[s.pos]) < 0 {
		s.fail(context, start, "did not find expected alphabetic or numeric character")
		return
	}
	s.add(token{kind: kind, start: start, end: s.mark, text: name})
}

func (s *scanner) tag() {
	const context = "while scanning a tag"
	start := s.mark
	handle, suffix := "", ""
	if s.has("!<") {
		s.skip(2)
		if suffix = s.tagURI(true, false, "", start); s.err == nil && !s.has(">") {
			s.fail(context, start, "did not find the expected '>'")
		}
		if s.err != nil {
			return
		}
		s.skip(1)
	} else {
		handle = s.tagHandle(false, start)
		switch {
		case s.err != nil:
			return
		case len(handle) > 1 && strings.HasSuffix(handle, "!"):
			suffix = s.tagURI(false, false, "", start)
		default:
			if suffix = s.tagURI(false, false, handle, start); suffix == "" {
				handle, suffix = "", "!"
			} else {
				handle = "!"
			}
		}
	}
	if s.err == nil && !s.blankOrEnd(s.pos) && (s.level == 0 || s.src[s.pos] != ',') {
		s.fail(context, start, "did not find expected whitespace or line break")
	}
	s.add(token{kind: tokTag, start: start, end: s.mark, text: handle, suffix: suffix})
}

// tagHandle reads "!", "!!" or "!name!". In a tag it also reads the first word after a lone "!".
func (s *scanner) tagHandle(directive bool, start mark) string {
	if !s.has("!") {
		s.fail(either(directive, "while scanning a tag directive", "while scanning a tag"), start,
			"did not find expected '!'")
		return ""
	}
	from := s.pos
	s.skip(1)
	s.word()
	if s.has("!") {
		s.skip(1)
	} else if directive && s.pos-from > 1 {
		s.fail("while parsing a tag directive", start, "did not find expected '!'")
	}
	return s.src[from:s.pos]
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// tagURI reads the rest of a tag; head is the part that was already read, with its "!". Only a full URI may contain
// brackets and commas.
func (s *scanner) tagURI(full, directive bool, head string, start mark) string {
	context := either(directive, "while parsing a %TAG directive", "while parsing a tag")
	signs := ";/?:@&=+$.!~*'()%"
	if full {
		signs += ",[]"
	}
	var out strings.Builder
	if head != "" {
		out.WriteString(head[1:])
	}
	from := s.pos
	for s.pos < len(s.src) && (isWordByte(s.src[s.pos]) || strings.IndexByte(signs, s.src[s.pos]) >= 0) {
		if s.src[s.pos] == '%' {
			if out.WriteString(s.uriEscapes(context, start)); s.err != nil {
				return ""
			}
			continue
		}
		out.WriteByte(s.src[s.pos])
		s.skip(1)
	}
	if s.pos == from && head == "" {
		s.fail(context, start, "did not find expected tag URI")
	}
	return out.String()
}

// uriEscapes reads one character that is written as %XX, in UTF-8.
func (s *scanner) uriEscapes(context string, start mark) string {
	var raw []byte
	for want := 1; len(raw) < want; {
		var hi, lo byte
		ok := s.pos+2 < len(s.src) && s.src[s.pos] == '%'
		if ok {
			var okLo bool
			hi, ok = hexDigit(s.src[s.pos+1])
			lo, okLo = hexDigit(s.src[s.pos+2])
			ok = ok && okLo
		}
		if !ok {
			s.fail(context, start, "did not find URI escaped octet")
			return ""
		}
		octet := hi<<4 | lo
		switch {
		case len(raw) > 0 && octet&0xc0 != 0x80:
			s.fail(context, start, "found an incorrect trailing UTF-8 octet")
			return ""
		case len(raw) == 0:
			if want = octets(octet); want == 0 {
				s.fail(context, start, "found an incorrect leading UTF-8 octet")
				return ""
			}
		}
		raw = append(raw, octet)
		s.skip(3)
	}
	return strings.ToValidUTF8(string(raw), string(utf8.RuneError))
}

// octets is the length of a UTF-8 sequence by its first octet, 0 if the octet is invalid.
func octets(first byte) int {
	switch {
	case first&0x80 == 0:
		return 1
	case first&0xe0 == 0xc0:
		return 2
	case first&0xf0 == 0xe0:
		return 3
	case first&0xf8 == 0xf0:
		return 4
	}
	return 0
}
