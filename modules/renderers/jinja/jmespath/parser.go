package jmespath

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"brine/modules/renderers/jinja/py"
)

// node is a part of an expression. What its kids and value mean stands at its kind in eval.go.
type node struct {
	kind  string
	kids  []*node
	value any
}

// maxDepth is how deep expressions may lie in each other.
const maxDepth = 150

// power is how strongly a token binds; those that are not here end an expression.
var power = map[string]int{
	"pipe": 1, "or": 2, "and": 3, "eq": 5, "gt": 5, "lt": 5, "gte": 5, "lte": 5, "ne": 5, "flatten": 9,
	"star": 20, "filter": 21, "dot": 40, "not": 45, "lbrace": 50, "lbracket": 55, "lparen": 60,
}

// endsProjection is the power from which on a token goes on with the projection before it.
const endsProjection = 10

// parser reads tokens by Pratt's way. After an error it finds itself at the end, where everything stops.
type parser struct {
	text   string
	tokens []token
	at     int
	depth  int
	err    error // the first one
}

// parse reads a whole expression.
func parse(text string, tokens []token) (*node, error) {
	p := &parser{text: text, tokens: tokens}
	n := p.expression(0)
	if t := p.now(); t.kind != "eof" {
		p.fail(t, fmt.Sprintf("Unexpected token: %s", shown(t)))
	}
	return n, p.err
}

func (p *parser) now() token { return p.tokens[min(p.at, len(p.tokens)-1)] }

func (p *parser) is(kinds ...string) bool { return slices.Contains(kinds, p.now().kind) }

// takes goes on if this token is next.
func (p *parser) takes(kind string) bool {
	if p.is(kind) {
		p.at++
		return true
	}
	return false
}

// shown is the value of a token as str() has it.
func shown(t token) string {
	s, err := py.Str(py.Free(), t.value)
	if err != nil {
		return "..."
	}
	return s
}

// stop keeps the first error and goes to the end.
func (p *parser) stop(err error) {
	if p.err == nil {
		p.err = err
	}
	p.at = len(p.tokens) - 1
}

// fail stops with an error of Python's ParseError.
func (p *parser) fail(t token, what string) {
	p.stop(py.Errorf("ParseError", "%s: Parse error at column %d, token \"%s\" (%s), for expression:\n\"%s\"\n%s^",
		what, t.start, shown(t), strings.ToUpper(t.kind), p.text, strings.Repeat(" ", t.start+1)))
}

// incomplete is the error of an expression that ends too early.
func (p *parser) incomplete() {
	under := strings.Repeat(" ", utf8.RuneCountInString(p.text)+1)
	p.stop(py.Errorf("IncompleteExpressionError", "Invalid jmespath expression: Incomplete expression:\n\"%s\"\n%s^",
		p.text, under))
}

// must takes a token or fails; expected is how Python shows what it waited for.
func (p *parser) must(expected string, kinds ...string) token {
	t := p.now()
	switch {
	case slices.Contains(kinds, t.kind):
		p.at++
		return t
	case t.kind == "eof":
		p.incomplete()
		return t
	}
	p.fail(t, "Expecting: "+expected+", got: "+t.kind)
	return t
}

func (p *parser) match(kind string) { p.must(kind, kind) }

// expression reads up to a token that binds no more strongly than this.
func (p *parser) expression(binding int) *node {
	if p.depth++; p.depth > maxDepth {
		p.stop(tooDeep())
	}
	defer func() { p.depth-- }()
	t := p.now()
	p.at++
	left := p.first(t)
	for n := 0; binding < power[p.now().kind]; n++ {
		if n > maxDepth {
			p.stop(tooDeep())
			break
		}
		left = p.next(left)
	}
	return left
}

func tooDeep() error { return py.Errorf("RecursionError", "maximum recursion depth exceeded") }

var identity = &node{kind: "current"}

// first reads what a token begins.
func (p *parser) first(t token) *node {
	switch t.kind {
	case "literal":
		return &node{kind: "literal", value: t.value}
	case "unquoted_identifier":
		return &node{kind: "field", value: t.value}
	case "quoted_identifier":
		if next := p.now(); next.kind == "lparen" {
			next.start = 0
			p.fail(next, "Quoted identifier not allowed for function names.")
		}
		return &node{kind: "field", value: t.value}
	case "star":
		if p.is("rbracket") {
			return &node{kind: "values", kids: []*node{identity, identity}}
		}
		return &node{kind: "values", kids: []*node{identity, p.projected("star")}}
	case "filter":
		return p.filter(identity)
	case "flatten":
		return p.flatten(identity)
	case "lbrace":
		return p.hash()
	case "lbracket":
		return p.bracket()
	case "lparen":
		n := p.expression(0)
		p.match("rparen")
		return n
	case "not":
		return &node{kind: "not", kids: []*node{p.expression(power["not"])}}
	case "expref":
		return &node{kind: "expref", kids: []*node{p.expression(0)}}
	case "current":
		return identity
	case "eof":
		p.incomplete()
	default:
		p.fail(t, "invalid token")
	}
	return nil
}

// next reads what follows left.
func (p *parser) next(left *node) *node {
	t := p.now()
	p.at++
	switch t.kind {
	case "dot":
		if p.takes("star") {
			return &node{kind: "values", kids: []*node{left, p.projected("dot")}}
		}
		return &node{kind: "chain", kids: []*node{left, p.afterDot("dot")}}
	case "pipe":
		return &node{kind: "chain", kids: []*node{left, p.expression(power["pipe"])}}
	case "or", "and":
		return &node{kind: t.kind, kids: []*node{left, p.expression(power[t.kind])}}
	case "eq", "ne", "lt", "lte", "gt", "gte":
		return &node{kind: "compare", value: t.kind, kids: []*node{left, p.expression(power[t.kind])}}
	case "lparen":
		return p.call(left)
	case "filter":
		return p.filter(left)
	case "flatten":
		return p.flatten(left)
	case "lbracket":
		return p.index(left)
	}
	p.fail(t, "invalid token")
	return nil
}
