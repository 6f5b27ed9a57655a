package jmespath

import (
	"fmt"

	"brine/modules/renderers/jinja/py"
)

// projected reads what is done with each item of a projection.
func (p *parser) projected(by string) *node {
	t := p.now()
	switch {
	case power[t.kind] < endsProjection:
		return identity
	case t.kind == "lbracket" || t.kind == "filter":
		return p.expression(power[by])
	case t.kind == "dot":
		p.at++
		return p.afterDot(by)
	}
	p.fail(t, "syntax error")
	return nil
}

// afterDot reads a name, a list or a hash behind a dot.
func (p *parser) afterDot(by string) *node {
	switch t := p.now(); t.kind {
	case "quoted_identifier", "unquoted_identifier", "star":
		return p.expression(power[by])
	case "lbracket":
		p.at++
		return p.list()
	case "lbrace":
		p.at++
		return p.hash()
	default:
		p.fail(t, "Expecting: ['quoted_identifier', 'unquoted_identifier', 'lbracket', 'lbrace'], got: "+t.kind)
	}
	return nil
}

// filter reads a condition in brackets, and what is done with the items it leaves.
func (p *parser) filter(left *node) *node {
	condition := p.expression(0)
	p.match("rbracket")
	right := identity
	if !p.is("flatten") {
		right = p.projected("filter")
	}
	return &node{kind: "filter", kids: []*node{left, right, condition}}
}

func (p *parser) flatten(left *node) *node {
	return &node{kind: "project", kids: []*node{{kind: "flatten", kids: []*node{left}}, p.projected("flatten")}}
}

// bracket reads what stands behind a bracket that begins an expression.
func (p *parser) bracket() *node {
	switch {
	case p.is("number", "colon"):
		return p.sliced(identity, p.inBrackets())
	case p.is("star") && p.tokens[p.at+1].kind == "rbracket":
		p.at += 2
		return &node{kind: "project", kids: []*node{identity, p.projected("star")}}
	}
	return p.list()
}

// index reads what stands behind a bracket that follows left.
func (p *parser) index(left *node) *node {
	if !p.is("number", "colon") {
		p.match("star")
		p.match("rbracket")
		return &node{kind: "project", kids: []*node{left, p.projected("star")}}
	}
	right := p.inBrackets()
	if left.kind == "indexed" { // a slice behind an index is no projection
		return &node{kind: "indexed", kids: []*node{left, right}}
	}
	return p.sliced(left, right)
}

func (p *parser) sliced(left, right *node) *node {
	n := &node{kind: "indexed", kids: []*node{left, right}}
	if right.kind != "slice" {
		return n
	}
	return &node{kind: "project", kids: []*node{n, p.projected("star")}}
}

// inBrackets reads a number, or a slice.
func (p *parser) inBrackets() *node {
	if !p.is("colon") && p.tokens[p.at+1].kind != "colon" {
		n := &node{kind: "index", value: p.now().value}
		p.at++
		p.match("rbracket")
		return n
	}
	var parts [3]any
	for i := 0; !p.is("rbracket") && p.err == nil; {
		t := p.now()
		if t.kind == "colon" {
			i++
		}
		if i == len(parts) || t.kind != "colon" && t.kind != "number" {
			p.fail(t, "syntax error")
			break
		}
		if t.kind == "number" {
			parts[i] = t.value
		}
		p.at++
	}
	p.match("rbracket")
	return &node{kind: "slice", value: parts}
}

// call reads the arguments of a function; the commas between them may be missing.
func (p *parser) call(left *node) *node {
	if left.kind != "field" {
		t := p.tokens[p.at-2]
		p.fail(t, fmt.Sprintf("Invalid function name '%s'", shown(t)))
	}
	n := &node{kind: "call", value: left.value}
	for !p.is("rparen") && p.err == nil {
		n.kids = append(n.kids, p.expression(0))
		p.takes("comma")
	}
	p.match("rparen")
	return n
}

// list reads [a, b].
func (p *parser) list() *node {
	n := &node{kind: "list"}
	for {
		n.kids = append(n.kids, p.expression(0))
		if p.takes("rbracket") || p.err != nil {
			return n
		}
		p.match("comma")
	}
}

// hash reads {a: b, c: d}.
func (p *parser) hash() *node {
	n := &node{kind: "hash", value: []string(nil)}
	var names []string
	for {
		t := p.must("['quoted_identifier', 'unquoted_identifier']", "quoted_identifier", "unquoted_identifier")
		name, _ := py.Text(t.value)
		names = append(names, name)
		p.match("colon")
		n.kids = append(n.kids, p.expression(0))
		if p.takes("rbrace") || p.err != nil {
			n.value = names
			return n
		}
		p.takes("comma")
	}
}
