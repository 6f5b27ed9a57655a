package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"brine/wire/python"
)

// lexer cuts a template into tokens.
type lexer struct {
	opt      Options
	src      string
	pos      int
	line     int
	starting bool   // the last match ended with a newline, or there was none
	balance  []byte // the closing brackets that are awaited
	out      []token
	rules    []startRule
}

// tokenize returns the tokens of a template, comments and white space left out. The last is of the kind eof. With an
// error come the tokens before it: the parser may object to one of those.
func tokenize(src string, opt Options) ([]token, *Error) {
	l := &lexer{opt: opt, line: 1, starting: true}
	src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	if !opt.KeepTrailingNewline {
		src = strings.TrimSuffix(src, "\n")
	}
	l.src, l.rules = src, startRules(opt)
	var failed *Error
	for l.pos < len(l.src) && failed == nil {
		failed = l.root()
	}
	last := l.line
	if n := len(l.out); n > 0 {
		last = l.out[n-1].line
	}
	return append(l.out, token{line: last, kind: "eof"}), failed
}

func (l *lexer) errorf(format string, a ...any) *Error {
	return &Error{Text: fmt.Sprintf(format, a...), Line: l.line}
}

func (l *lexer) emit(kind, text string) {
	l.out = append(l.out, token{line: l.line, kind: kind, text: text})
}

// take moves over n bytes and counts their lines.
func (l *lexer) take(n int) string {
	text := l.src[l.pos : l.pos+n]
	l.pos += n
	l.line += strings.Count(text, "\n")
	if n > 0 {
		l.starting = text[n-1] == '\n'
	}
	return text
}

// data emits text of the template that stands before a tag.
func (l *lexer) data(text string) {
	if text == "" {
		return
	}
	out := text
	if l.opt.NewlineSequence != "\n" {
		out = strings.ReplaceAll(text, "\n", l.opt.NewlineSequence)
	}
	l.emit("data", out)
}

// root takes the text up to the next tag, and the tag.
func (l *lexer) root() *Error {
	tag, ok := l.nextTag()
	if !ok {
		text := l.src[l.pos:]
		l.data(text)
		l.take(len(text))
		return nil
	}
	text := l.src[l.pos:tag.start]
	l.data(l.stripped(text, tag))
	l.take(len(text))
	switch tag.kind {
	case "raw_begin":
		l.take(tag.end - tag.start)
		return l.raw()
	case "comment_begin":
		l.take(tag.end - tag.start)
		return l.comment()
	case "linecomment_begin":
		l.take(tag.end - tag.start)
		n := strings.IndexByte(l.src[l.pos:], '\n')
		if n < 0 {
			n = len(l.src) - l.pos
		}
		l.take(n)
		return nil
	case "linestatement_begin":
		l.emit("block_begin", "")
	default:
		l.emit(tag.kind, "")
	}
	l.take(tag.end - tag.start)
	return l.inside(tag.kind)
}

// stripped is the text before a tag without what the tag's sign or lstrip_blocks takes away.
func (l *lexer) stripped(text string, tag startTag) string {
	switch {
	case tag.sign == '-':
		return strings.TrimRightFunc(text, python.IsSpace)
	case tag.sign != '+' && l.opt.LstripBlocks && tag.kind != "variable_begin":
		at := strings.LastIndexByte(text, '\n') + 1
		if (at > 0 || l.starting) && at < len(text) && strings.TrimLeftFunc(text[at:], python.IsSpace) == "" {
			return text[:at]
		}
	}
	return text
}

// spaces is the length of the white space at the start of text.
func spaces(text string) int { return len(text) - len(strings.TrimLeftFunc(text, python.IsSpace)) }

// endTag looks for an end delimiter at the start of text, with its sign and what it swallows behind it.
func (l *lexer) endTag(text, end string, plus, trim bool) (n int, ok bool) {
	switch {
	case plus && strings.HasPrefix(text, "+"+end):
		return 1 + len(end), true
	case strings.HasPrefix(text, "-"+end):
		n := 1 + len(end)
		return n + spaces(text[n:]), true
	case strings.HasPrefix(text, end):
		if trim && strings.HasPrefix(text[len(end):], "\n") {
			return len(end) + 1, true
		}
		return len(end), true
	}
	return 0, false
}

func (l *lexer) comment() *Error {
	text := l.src[l.pos:]
	at := strings.Index(text, l.opt.CommentEnd)
	if at < 0 {
		if text == "" {
			return nil
		}
		return l.errorf("Missing end of comment tag")
	}
	if at > 0 && (text[at-1] == '-' || text[at-1] == '+') {
		at--
	}
	n, _ := l.endTag(text[at:], l.opt.CommentEnd, true, l.opt.TrimBlocks)
	l.take(at + n)
	return nil
}

// raw takes all to endraw as text.
func (l *lexer) raw() *Error {
	rest := l.src[l.pos:]
	for from := 0; ; {
		i := strings.Index(rest[from:], l.opt.BlockStart)
		if i < 0 {
			break
		}
		start := from + i
		if sign, n, ok := l.endraw(rest[start:]); ok {
			l.data(l.stripped(rest[:start], startTag{sign: sign, kind: "block_begin"}))
			l.take(start + n)
			return nil
		}
		from = start + len(l.opt.BlockStart)
	}
	if rest == "" {
		return nil
	}
	return l.errorf("Missing end of raw directive")
}

func (l *lexer) endraw(text string) (sign byte, n int, ok bool) {
	n = len(l.opt.BlockStart)
	if n < len(text) && (text[n] == '-' || text[n] == '+') {
		sign = text[n]
		n++
	}
	n += spaces(text[n:])
	if !strings.HasPrefix(text[n:], "endraw") {
		return 0, 0, false
	}
	n += len("endraw")
	n += spaces(text[n:])
	end, ok := l.endTag(text[n:], l.opt.BlockEnd, true, l.opt.TrimBlocks)
	return sign, n + end, ok
}

// inside takes the tokens of a tag and its end.
func (l *lexer) inside(kind string) *Error {
	for {
		rest := l.src[l.pos:]
		if len(l.balance) == 0 {
			if n, end := l.tagEnd(kind, rest); end != "" {
				l.emit(end, "")
				l.take(n)
				return nil
			}
		}
		if rest == "" {
			return nil
		}
		if err := l.word(rest); err != nil {
			return err
		}
	}
}

// tagEnd says whether text begins with the end of a tag of this kind: its length and the kind of its token.
func (l *lexer) tagEnd(kind, text string) (int, string) {
	switch kind {
	case "variable_begin":
		if n, ok := l.endTag(text, l.opt.VariableEnd, false, false); ok {
			return n, "variable_end"
		}
	case "block_begin":
		if n, ok := l.endTag(text, l.opt.BlockEnd, true, l.opt.TrimBlocks); ok {
			return n, "block_end"
		}
	case "linestatement_begin":
		n := spaces(text)
		if n == len(text) {
			return n, "block_end"
		}
		if at := strings.LastIndexByte(text[:n], '\n'); at >= 0 {
			return at + 1, "block_end"
		}
	}
	return 0, ""
}

// word takes one token inside a tag.
func (l *lexer) word(rest string) *Error {
	if n := spaces(rest); n > 0 {
		l.take(n)
		return nil
	}
	if n := floatLen(rest, l.pos > 0 && l.src[l.pos-1] == '.'); n > 0 {
		l.out = append(l.out, token{line: l.line, kind: "float", num: floatOf(rest[:n])})
		l.take(n)
		return nil
	}
	if n := integerLen(rest); n > 0 {
		l.out = append(l.out, token{line: l.line, kind: "integer", num: integerOf(rest[:n])})
		l.take(n)
		return nil
	}
	if n := nameLen(rest); n > 0 {
		if r, _ := utf8.DecodeRuneInString(rest); !isNameStart(r) {
			return l.errorf("Invalid character in identifier")
		}
		l.emit("name", rest[:n])
		l.take(n)
		return nil
	}
	if n := stringLen(rest); n > 0 {
		text, err := unescape(rest[1:n-1], l.opt.NewlineSequence)
		if err != nil {
			return l.errorf("%s", err)
		}
		l.emit("string", text)
		l.take(n)
		return nil
	}
	return l.operator(rest)
}

var closing = map[string]byte{"(": ')', "[": ']', "{": '}'}

func (l *lexer) operator(rest string) *Error {
	sign := ""
	for n := min(2, len(rest)); n > 0 && sign == ""; n-- {
		if _, ok := operators[rest[:n]]; ok {
			sign = rest[:n]
		}
	}
	switch sign {
	case "":
		r, _ := utf8.DecodeRuneInString(rest)
		return l.errorf("unexpected char %s at %d", python.Repr(string(r)), utf8.RuneCountInString(l.src[:l.pos]))
	case "(", "[", "{":
		l.balance = append(l.balance, closing[sign])
	case ")", "]", "}":
		n := len(l.balance)
		if n == 0 {
			return l.errorf("unexpected '%s'", sign)
		}
		want := l.balance[n-1]
		if l.balance = l.balance[:n-1]; want != sign[0] {
			return l.errorf("unexpected '%s', expected '%c'", sign, want)
		}
	}
	l.emit(operators[sign], "")
	l.take(len(sign))
	return nil
}
