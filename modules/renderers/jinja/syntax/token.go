// Package syntax reads the text of a Jinja template into a tree: lexer, parser, nodes. It knows the statements of Jinja
// 3.1 with the extensions Salt switches on (do, break, continue) and Salt's own (load_yaml, import_yaml, profile, ...),
// and nothing of values: jinja evaluates the tree. Its errors carry Jinja's words. Answers to jinja2/lexer.py,
// jinja2/parser.py and the parsing half of class SerializerExtension in salt/utils/jinja.py.
package syntax

import "strings"

// Options say how a template is read. The zero value of a delimiter means Jinja's own.
type Options struct {
	BlockStart, BlockEnd       string // "{%", "%}"
	VariableStart, VariableEnd string // "{{", "}}"
	CommentStart, CommentEnd   string // "{#", "#}"
	LineStatementPrefix        string // none
	LineCommentPrefix          string // none
	NewlineSequence            string // "\n"
	TrimBlocks                 bool
	LstripBlocks               bool
	KeepTrailingNewline        bool
	HasFilter, HasTest         func(name string) bool // nil: every name is known
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		to  *string
		def string
	}{
		{&o.BlockStart, "{%"},
		{&o.BlockEnd, "%}"},
		{&o.VariableStart, "{{"},
		{&o.VariableEnd, "}}"},
		{&o.CommentStart, "{#"},
		{&o.CommentEnd, "#}"},
		{&o.NewlineSequence, "\n"},
	} {
		if *d.to == "" {
			*d.to = d.def
		}
	}
	return o
}

// Error is what is wrong with the text of a template, in Jinja's words.
type Error struct {
	Text string
	Line int // from 1
}

func (e *Error) Error() string { return e.Text }

// token is one word of a template. kind is Jinja's name of its type; for an operator that is its name ("lparen").
type token struct {
	line int
	kind string
	text string
	num  any // of an integer or float: int64, *big.Int, float64
}

// is compares with a token expression: "name:for", or only a kind.
func (t token) is(expr string) bool {
	if t.kind == expr {
		return true
	}
	kind, text, ok := strings.Cut(expr, ":")
	return ok && t.kind == kind && t.text == text
}

func (t token) isAny(exprs ...string) bool {
	for _, e := range exprs {
		if t.is(e) {
			return true
		}
	}
	return false
}

// operators are the names of the operators, by their signs.
var operators = map[string]string{
	"+": "add", "-": "sub", "/": "div", "//": "floordiv", "*": "mul", "%": "mod", "**": "pow", "~": "tilde",
	"[": "lbracket", "]": "rbracket", "(": "lparen", ")": "rparen", "{": "lbrace", "}": "rbrace",
	"==": "eq", "!=": "ne", ">": "gt", ">=": "gteq", "<": "lt", "<=": "lteq", "=": "assign",
	".": "dot", ":": "colon", "|": "pipe", ",": "comma", ";": "semicolon",
}

// kindWords are the kinds that are described by other words than their names.
var kindWords = map[string]string{
	"block_begin": "begin of statement block", "block_end": "end of statement block",
	"variable_begin": "begin of print statement", "variable_end": "end of print statement",
	"data": "template data / text", "eof": "end of template",
}

func describeKind(kind string) string {
	for sign, name := range operators {
		if name == kind {
			return sign
		}
	}
	if w, ok := kindWords[kind]; ok {
		return w
	}
	return kind
}

func (t token) describe() string {
	if t.kind == "name" {
		return t.text
	}
	return describeKind(t.kind)
}

func describeExpr(expr string) string {
	kind, text, ok := strings.Cut(expr, ":")
	if ok && kind == "name" {
		return text
	}
	return describeKind(kind)
}
