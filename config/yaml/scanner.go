package yaml

import "unicode/utf8"

// mark is a position in the text, in characters, counted from 0.
type mark struct{ line, column, index int }

type tokenKind uint8

const (
	tokStreamEnd tokenKind = iota
	tokVersion             // %YAML, text is the version
	tokTagPrefix           // %TAG, text is the handle, suffix the prefix
	tokDocumentStart
	tokDocumentEnd
	tokBlockSequence
	tokBlockMapping
	tokBlockEnd
	tokFlowSequence
	tokFlowSequenceEnd
	tokFlowMapping
	tokFlowMappingEnd
	tokEntry     // "-"
	tokFlowEntry // ","
	tokKey
	tokValue
	tokAlias
	tokAnchor
	tokTag // text is the handle, suffix the rest
	tokScalar
)

type token struct {
	kind         tokenKind
	plain        bool // a scalar without quotes
	start, end   mark
	text, suffix string
}

// simpleKey is a position where a key may begin; whether it does depends on a later ":".
type simpleKey struct {
	number   int // of the token that it would precede
	level    int // of flow collections
	required bool
	mark     mark
}

// scanner splits a text into tokens, with the rules of libyaml (scanner.c), which Salt's loader uses. Its errors have
// libyaml's words and positions. After its first error it returns no more tokens.
type scanner struct {
	src  string
	pos  int // in bytes
	mark mark
	err  *Error

	queue  []token
	head   int // of the queue
	parsed int // number of tokens taken
	ended  bool

	indent     int
	indents    []int
	level      int         // of flow collections
	keyAllowed bool        // whether a simple key may begin here
	keys       []simpleKey // keys that are still possible, one for each level, the oldest first
}

// maxSimpleKey is the longest key before ":", in characters.
const maxSimpleKey = 1024

func newScanner(src string) *scanner {
	return &scanner{src: src, indent: -1, keyAllowed: true}
}

// peek returns the next token without removing it; nil after an error.
func (s *scanner) peek() *token {
	for s.err == nil && !s.ended && (s.head == len(s.queue) || s.awaitsValue()) {
		s.fetch()
	}
	if s.err != nil {
		return nil
	}
	return &s.queue[s.head]
}

// awaitsValue tells whether the next token may be a key, which depends on a later ":".
func (s *scanner) awaitsValue() bool {
	s.dropStale()
	return len(s.keys) > 0 && s.keys[0].number == s.parsed
}

// take removes the token that peek has returned. It never removes the end of the stream.
func (s *scanner) take() {
	if s.queue[s.head].kind == tokStreamEnd {
		return
	}
	s.head++
	s.parsed++
	if s.head == len(s.queue) {
		s.queue, s.head = s.queue[:0], 0
	}
}

func (s *scanner) fail(context string, start mark, problem string) {
	if s.err == nil {
		s.err = &Error{Kind: ScannerError, Context: context, Line: s.mark.line + 1, Column: s.mark.column + 1,
			Problem: problem}
		if context != "" {
			s.err.ContextLine, s.err.ContextColumn = start.line+1, start.column+1
		}
	}
}

// fetch reads one more token; some tokens cause others before them.
func (s *scanner) fetch() {
	s.toNextToken()
	if s.err == nil {
		s.dropStale()
		s.unroll(s.mark.column)
	}
	switch {
	case s.err != nil:
	case s.pos >= len(s.src):
		s.streamEnd()
	case s.mark.column == 0 && s.src[s.pos] == '%':
		s.startLine()
		s.directive()
	case s.documentIndicator():
		s.startLine()
		kind := tokDocumentStart
		if s.src[s.pos] == '.' {
			kind = tokDocumentEnd
		}
		s.punctuation(kind, 3)
	default:
		s.fetchContent()
	}
}

func (s *scanner) fetchContent() {
	c := s.src[s.pos]
	flow, followed := s.level > 0, s.blankOrEnd(s.pos+1)
	switch {
	case c == '[':
		s.flowStart(tokFlowSequence)
	case c == '{':
		s.flowStart(tokFlowMapping)
	case c == ']':
		s.flowEnd(tokFlowSequenceEnd)
	case c == '}':
		s.flowEnd(tokFlowMappingEnd)
	case c == ',':
		s.dropKey()
		s.keyAllowed = true
		s.punctuation(tokFlowEntry, 1)
	case c == '-' && followed:
		s.blockEntry()
	case c == '?' && (flow || followed):
		s.explicitKey()
	case c == ':' && (flow || followed):
		s.value()
	case c == '*', c == '&':
		s.saveKey()
		s.keyAllowed = false
		s.anchor(c == '*')
	case c == '!':
		s.saveKey()
		s.keyAllowed = false
		s.tag()
	case (c == '|' || c == '>') && !flow:
		s.dropKey()
		s.keyAllowed = true
		s.blockScalar(c == '|')
	case c == '\'', c == '"':
		s.saveKey()
		s.keyAllowed = false
		s.quoted(c)
	case plainStart(c) || c == '-' && !s.isBlank(s.pos+1) || !flow && (c == '?' || c == ':'):
		s.saveKey()
		s.keyAllowed = false
		s.plain()
	default:
		s.fail("while scanning for the next token", s.mark, "found character that cannot start any token")
	}
}

func plainStart(c byte) bool {
	switch c {
	case ' ', '\t', '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	}
	return true
}

func (s *scanner) add(t token) { s.queue = append(s.queue, t) }

// insert puts a token before the token with that number.
func (s *scanner) insert(number int, t token) {
	at := s.head + number - s.parsed
	s.queue = append(s.queue, token{})
	copy(s.queue[at+1:], s.queue[at:])
	s.queue[at] = t
}

// punctuation makes a token of the next n characters.
func (s *scanner) punctuation(kind tokenKind, n int) {
	start := s.mark
	s.skip(n)
	s.add(token{kind: kind, start: start, end: s.mark})
}

// startLine handles the beginning of a directive or document: all blocks end.
func (s *scanner) startLine() {
	s.unroll(-1)
	s.dropKey()
	s.keyAllowed = false
}

func (s *scanner) streamEnd() {
	if s.mark.column != 0 {
		s.mark.column = 0
		s.mark.line++
	}
	s.startLine()
	s.dropStale() // of outer levels
	s.ended = true
	s.add(token{kind: tokStreamEnd, start: s.mark, end: s.mark})
}

func (s *scanner) flowStart(kind tokenKind) {
	s.saveKey()
	s.level++
	s.keyAllowed = true
	s.punctuation(kind, 1)
}

func (s *scanner) flowEnd(kind tokenKind) {
	s.dropKey()
	if s.level > 0 {
		s.level--
	}
	s.keyAllowed = false
	s.punctuation(kind, 1)
}

func (s *scanner) blockEntry() {
	if s.level == 0 {
		if !s.keyAllowed {
			s.fail("", s.mark, "block sequence entries are not allowed in this context")
			return
		}
		s.roll(s.mark.column, -1, tokBlockSequence, s.mark)
	}
	s.dropKey()
	s.keyAllowed = true
	s.punctuation(tokEntry, 1)
}

func (s *scanner) explicitKey() {
	if s.level == 0 {
		if !s.keyAllowed {
			s.fail("", s.mark, "mapping keys are not allowed in this context")
			return
		}
		s.roll(s.mark.column, -1, tokBlockMapping, s.mark)
	}
	s.dropKey()
	s.keyAllowed = s.level == 0
	s.punctuation(tokKey, 1)
}

func (s *scanner) value() {
	if key, ok := s.keyHere(); ok {
		s.keys = s.keys[:len(s.keys)-1]
		s.insert(key.number, token{kind: tokKey, start: key.mark, end: key.mark})
		s.roll(key.mark.column, key.number, tokBlockMapping, key.mark)
		s.keyAllowed = false
		s.punctuation(tokValue, 1)
		return
	}
	if s.level == 0 {
		if !s.keyAllowed {
			s.fail("", s.mark, "mapping values are not allowed in this context")
			return
		}
		s.roll(s.mark.column, -1, tokBlockMapping, s.mark)
	}
	s.keyAllowed = s.level == 0
	s.punctuation(tokValue, 1)
}

// keyHere is the possible key of the innermost level.
func (s *scanner) keyHere() (simpleKey, bool) {
	if n := len(s.keys); n > 0 && s.keys[n-1].level == s.level {
		return s.keys[n-1], true
	}
	return simpleKey{}, false
}

// saveKey records that a key may begin here.
func (s *scanner) saveKey() {
	if !s.keyAllowed {
		return
	}
	s.dropKey()
	s.keys = append(s.keys, simpleKey{number: s.parsed + len(s.queue) - s.head, level: s.level,
		required: s.level == 0 && s.indent == s.mark.column, mark: s.mark})
}

// dropKey drops the possible key of this level; if a key was required, that is an error.
func (s *scanner) dropKey() {
	if key, ok := s.keyHere(); ok {
		s.keys = s.keys[:len(s.keys)-1]
		s.lost(key)
	}
}

func (s *scanner) lost(key simpleKey) {
	if key.required {
		s.fail("while scanning a simple key", key.mark, "could not find expected ':'")
	}
}

// dropStale drops keys that have become too long or would cross a line end.
func (s *scanner) dropStale() {
	n := 0
	for n < len(s.keys) && (s.keys[n].mark.line < s.mark.line || s.keys[n].mark.index+maxSimpleKey < s.mark.index) {
		s.lost(s.keys[n])
		n++
	}
	s.keys = s.keys[n:]
}

// roll begins a block collection if the column is indented further. Its token goes before the token with that number,
// or to the end.
func (s *scanner) roll(column, number int, kind tokenKind, at mark) {
	if s.level > 0 || s.indent >= column {
		return
	}
	s.indents = append(s.indents, s.indent)
	s.indent = column
	t := token{kind: kind, start: at, end: at}
	if number < 0 {
		s.add(t)
		return
	}
	s.insert(number, t)
}

// unroll ends the block collections that are indented further than column.
func (s *scanner) unroll(column int) {
	if s.level > 0 {
		return
	}
	for s.indent > column {
		s.add(token{kind: tokBlockEnd, start: s.mark, end: s.mark})
		s.indent = s.indents[len(s.indents)-1]
		s.indents = s.indents[:len(s.indents)-1]
	}
}

const byteOrderMark = "\ufeff"

// toNextToken skips blanks, comments and line ends.
func (s *scanner) toNextToken() {
	for {
		if s.mark.column == 0 && s.has(byteOrderMark) {
			s.skip(len(byteOrderMark))
			s.mark.column, s.mark.index = s.mark.column-2, s.mark.index-2
		}
		for s.pos < len(s.src) && (s.src[s.pos] == ' ' || s.src[s.pos] == '\t' && (s.level > 0 || !s.keyAllowed)) {
			s.skip(1)
		}
		s.skipComment()
		if !s.skipBreak() {
			return
		}
		if s.level == 0 {
			s.keyAllowed = true
		}
	}
}

func (s *scanner) skipComment() {
	if s.pos < len(s.src) && s.src[s.pos] == '#' {
		s.skipRest()
	}
}

// skipRest skips to the end of the line.
func (s *scanner) skipRest() {
	for s.pos < len(s.src) && s.breakAt(s.pos) == 0 {
		s.skipChar()
	}
}

func (s *scanner) has(prefix string) bool {
	return len(s.src)-s.pos >= len(prefix) && s.src[s.pos:s.pos+len(prefix)] == prefix
}

// skip skips n ASCII characters that are not line ends.
func (s *scanner) skip(n int) {
	s.pos += n
	s.mark.column += n
	s.mark.index += n
}

// skipChar skips one character that is not a line end.
func (s *scanner) skipChar() {
	size := 1
	if s.src[s.pos] >= utf8.RuneSelf {
		_, size = utf8.DecodeRuneInString(s.src[s.pos:])
	}
	s.pos += size
	s.mark.column++
	s.mark.index++
}

// breakAt is the length of the line end at a position, 0 if there is none.
func (s *scanner) breakAt(pos int) int {
	if pos >= len(s.src) {
		return 0
	}
	switch c := s.src[pos]; {
	case c == '\n':
		return 1
	case c == '\r':
		if pos+1 < len(s.src) && s.src[pos+1] == '\n' {
			return 2
		}
		return 1
	case c == 0xc2 && pos+1 < len(s.src) && s.src[pos+1] == 0x85:
		return 2
	case c == 0xe2 && pos+2 < len(s.src) && s.src[pos+1] == 0x80 && s.src[pos+2]&^1 == 0xa8:
		return 3
	}
	return 0
}

// skipBreak skips a line end, if there is one.
func (s *scanner) skipBreak() bool {
	n := s.breakAt(s.pos)
	if n == 0 {
		return false
	}
	s.mark.index++
	if n == 2 && s.src[s.pos] == '\r' {
		s.mark.index++
	}
	s.pos += n
	s.mark.column = 0
	s.mark.line++
	return true
}

// readBreak is skipBreak, and returns the line end as it appears in the value of a scalar.
func (s *scanner) readBreak() string {
	start := s.pos
	if s.skipBreak(); s.src[start] == 0xe2 {
		return s.src[start:s.pos]
	}
	return "\n"
}

func (s *scanner) isBlank(pos int) bool {
	return pos < len(s.src) && (s.src[pos] == ' ' || s.src[pos] == '\t')
}

// blankOrEnd tells whether white space, a line end or the end of the text is at a position.
func (s *scanner) blankOrEnd(pos int) bool {
	return pos >= len(s.src) || s.isBlank(pos) || s.breakAt(pos) > 0
}

// documentIndicator tells whether "---" or "..." is here as the edge of a document.
func (s *scanner) documentIndicator() bool {
	return s.mark.column == 0 && (s.has("---") || s.has("...")) && s.blankOrEnd(s.pos+3)
}
