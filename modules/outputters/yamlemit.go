package outputters

import (
	"strings"
	"unicode/utf8"
)

const (
	yamlWidth        = 80 // where lines are folded
	yamlMinIndent    = 2  // also the default
	yamlMaxIndent    = 9
	yamlSimpleKeyLen = 128 // longer keys are written with "? "
)

// emitter lays nodes out as libyaml's emitter does (emitter.c, version 0.2.5).
type emitter struct {
	out        strings.Builder
	step       int
	width      int
	ascii      bool // no other letters
	indent     int
	column     int
	flowLevel  int
	whitespace bool // the last character was white space
	indention  bool // only indentation and indicators on this line so far
}

func newEmitter(step int) *emitter {
	if step < yamlMinIndent || step > yamlMaxIndent {
		step = yamlMinIndent
	}
	return &emitter{step: step, width: yamlWidth, indent: -1, whitespace: true, indention: true}
}

func (e *emitter) document(n *yamlNode) {
	e.node(n, false, false)
	e.writeIndent()
	if n.kind == yamlScalar && e.column > 0 {
		e.lineBreak()
	}
}

// node writes a node; asValue tells that it stands as key or value of a mapping, simpleKey that it is a key in
// front of ":".
func (e *emitter) node(n *yamlNode, asValue, simpleKey bool) {
	if n.tag != "" {
		e.indicator(n.tag, true, false, false)
	}
	switch {
	case n.kind == yamlScalar:
		e.scalar(n, simpleKey)
	case e.flowLevel > 0 || n.flow || len(n.items) == 0:
		e.flow(n)
	case n.kind == yamlSequence:
		e.blockSequence(n, asValue)
	default:
		e.blockMapping(n)
	}
}

// increase opens a level of indentation and returns the one to go back to.
func (e *emitter) increase(flow, indentless bool) int {
	before := e.indent
	switch {
	case e.indent < 0 && flow:
		e.indent = e.step
	case e.indent < 0:
		e.indent = 0
	case !indentless:
		e.indent += e.step
	}
	return before
}

func (e *emitter) blockSequence(n *yamlNode, asValue bool) {
	before := e.increase(false, asValue && !e.indention)
	for _, item := range n.items {
		e.writeIndent()
		e.indicator("-", true, false, true)
		e.node(item, false, false)
	}
	e.indent = before
}

func (e *emitter) blockMapping(n *yamlNode) {
	before := e.increase(false, false)
	for i := 0; i < len(n.items); i += 2 {
		key, value := n.items[i], n.items[i+1]
		e.writeIndent()
		if e.simpleKey(key) {
			e.node(key, true, true)
			e.indicator(":", false, false, false)
		} else {
			e.indicator("?", true, false, true)
			e.node(key, true, false)
			e.writeIndent()
			e.indicator(":", true, false, true)
		}
		e.node(value, true, false)
	}
	e.indent = before
}

func (e *emitter) flow(n *yamlNode) {
	open, end := "[", "]"
	if n.kind == yamlMapping {
		open, end = "{", "}"
	}
	e.indicator(open, true, true, false)
	before := e.increase(true, false)
	e.flowLevel++
	width := 1
	if n.kind == yamlMapping {
		width = 2
	}
	for i := 0; i < len(n.items); i += width {
		if i > 0 {
			e.indicator(",", false, false, false)
		}
		e.foldFlow()
		if n.kind == yamlSequence {
			e.node(n.items[i], false, false)
			continue
		}
		e.flowPair(n.items[i], n.items[i+1])
	}
	e.flowLevel--
	e.indent = before
	e.indicator(end, false, false, false)
}

func (e *emitter) flowPair(key, value *yamlNode) {
	if e.simpleKey(key) {
		e.node(key, true, true)
		e.indicator(":", false, false, false)
	} else {
		e.indicator("?", true, false, false)
		e.node(key, true, false)
		e.foldFlow()
		e.indicator(":", true, false, false)
	}
	e.node(value, true, false)
}

func (e *emitter) foldFlow() {
	if e.column > e.width {
		e.writeIndent()
	}
}

// simpleKey tells whether a key can stand in front of ":" without "?".
func (e *emitter) simpleKey(n *yamlNode) bool {
	if n.kind != yamlScalar {
		return len(n.items) == 0
	}
	length := len(n.text)
	if n.binary {
		length += len(binaryTag)
	}
	return !strings.ContainsFunc(n.text, isYAMLBreak) && length <= yamlSimpleKeyLen
}

// indicator writes punctuation; needBlank puts a blank before it unless white space is there.
func (e *emitter) indicator(text string, needBlank, isWhitespace, isIndention bool) {
	if needBlank && !e.whitespace {
		e.put(" ")
	}
	e.put(text)
	e.whitespace = isWhitespace
	e.indention = e.indention && isIndention
}

func (e *emitter) writeIndent() {
	indent := max(e.indent, 0)
	if !e.indention || e.column > indent || e.column == indent && !e.whitespace {
		e.lineBreak()
	}
	if n := indent - e.column; n > 0 {
		e.put(strings.Repeat(" ", n))
	}
	e.whitespace, e.indention = true, true
}

func (e *emitter) put(s string) {
	e.out.WriteString(s)
	e.column += utf8.RuneCountInString(s)
}

func (e *emitter) lineBreak() {
	e.out.WriteByte('\n')
	e.column = 0
}
