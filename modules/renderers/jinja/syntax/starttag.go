package syntax

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"brine/wire/python"
)

// startRule is one way in which a tag may begin; at is where it was found last.
type startRule struct {
	kind, sign string
	at         int // offset of the next start, -1 unknown, the length of the source: none
}

// startTag is the beginning of a tag in the source, with its white space control.
type startTag struct {
	kind       string
	start, end int
	sign       byte // '-', '+' or 0
}

// startRules are in the order in which Jinja tries them at one place: the longest sign first.
func startRules(o Options) []startRule {
	rules := []startRule{
		{kind: "variable_begin", sign: o.VariableStart, at: -1},
		{kind: "comment_begin", sign: o.CommentStart, at: -1},
		{kind: "block_begin", sign: o.BlockStart, at: -1},
	}
	if o.LineStatementPrefix != "" {
		rules = append(rules, startRule{"linestatement_begin", o.LineStatementPrefix, -1})
	}
	if o.LineCommentPrefix != "" {
		rules = append(rules, startRule{"linecomment_begin", o.LineCommentPrefix, -1})
	}
	slices.SortStableFunc(rules, func(a, b startRule) int {
		return cmp.Or(-cmp.Compare(len(a.sign), len(b.sign)), -strings.Compare(a.kind, b.kind))
	})
	return rules
}

// nextTag finds the tag that begins first.
func (l *lexer) nextTag() (startTag, bool) {
	best := -1
	for i := range l.rules {
		r := &l.rules[i]
		if r.at < l.pos {
			r.at = l.find(*r)
		}
		if r.at < len(l.src) && (best < 0 || r.at < l.rules[best].at) {
			best = i
		}
	}
	if best < 0 {
		return startTag{}, false
	}
	r := l.rules[best]
	if r.kind == "block_begin" || l.blockAt(r.at) {
		if tag, ok := l.rawTag(r.at); ok {
			return tag, true
		}
	}
	tag := startTag{kind: r.kind, start: r.at, end: r.at + len(r.sign)}
	if strings.HasPrefix(r.kind, "line") {
		tag.end = r.at + strings.Index(l.src[r.at:], r.sign) + len(r.sign)
	}
	if tag.end < len(l.src) && (l.src[tag.end] == '-' || l.src[tag.end] == '+') {
		tag.sign = l.src[tag.end]
		tag.end++
	}
	return tag, true
}

func (l *lexer) blockAt(at int) bool { return strings.HasPrefix(l.src[at:], l.opt.BlockStart) }

// find looks for the next start of one rule from the present position on.
func (l *lexer) find(r startRule) int {
	for from := l.pos; ; {
		i := strings.Index(l.src[from:], r.sign)
		if i < 0 {
			return len(l.src)
		}
		at := from + i
		switch r.kind {
		case "linestatement_begin":
			if start := len(strings.TrimRight(l.src[:at], " \t\v")); start >= l.pos && l.lineStart(start) {
				return start
			}
		case "linecomment_begin":
			start := len(strings.TrimRightFunc(l.src[:at], func(c rune) bool { return python.IsSpace(c) && c != '\n' }))
			if start >= l.pos {
				return start
			}
		default:
			return at
		}
		from = at + len(r.sign)
	}
}

func (l *lexer) lineStart(at int) bool { return at == 0 || l.src[at-1] == '\n' }

// rawTag reads {% raw %} at an offset.
func (l *lexer) rawTag(at int) (startTag, bool) {
	tag := startTag{kind: "raw_begin", start: at}
	n := at + len(l.opt.BlockStart)
	if n < len(l.src) && (l.src[n] == '-' || l.src[n] == '+') {
		tag.sign = l.src[n]
		n++
	}
	n += spaces(l.src[n:])
	if !strings.HasPrefix(l.src[n:], "raw") {
		return tag, false
	}
	n += len("raw")
	n += spaces(l.src[n:])
	end, ok := l.endTag(l.src[n:], l.opt.BlockEnd, false, false)
	tag.end = n + end
	return tag, ok
}

// nameLen is the length of the word at the start of text.
func nameLen(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if !isNamePart(r) {
			break
		}
		n += size
	}
	return n
}
