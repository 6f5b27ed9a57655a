package syntax

import (
	"fmt"
	"strings"

	"brine/wire/python"
)

// maxDepth is how deep statements and expressions may lie in each other. Python gives up at some depth too.
const maxDepth = 200

// parser reads tokens into a tree. An error is kept, and moves it to the end of the tokens, so that every loop ends.
type parser struct {
	toks    []token
	pos     int
	err     *Error
	lexErr  *Error // what stands where the tokens end before the text does
	opt     Options
	depth   int
	tags    []string   // the tags that are open
	ends    [][]string // the tags that would close them
	names   []string   // every name that was read so far
	blocks  []*Block   // in the order of the text
	checked []reference
	inner   int // how many scopes lie around: extends is for the outermost
	loops   int // how many loops lie around
}

// reference is a filter or a test that is named in the template. One below a condition may be unknown as long as it is
// not used; a scope of its own below the condition ends that indulgence.
type reference struct {
	what, name  string
	line        int
	soft, fixed bool
}

// Parse reads a template.
func Parse(src string, opt Options) (*Tree, error) {
	opt = opt.withDefaults()
	toks, lexErr := tokenize(src, opt)
	p := &parser{toks: toks, opt: opt, lexErr: lexErr}
	p.checkToken()
	body := p.subparse(nil)
	if p.err != nil {
		return nil, p.err
	}
	tree := &Tree{Body: body, Blocks: map[string]*Block{}}
	p.checkBlocks(tree)
	p.checkReferences()
	if p.err != nil {
		return nil, p.err
	}
	return tree, nil
}

func (p *parser) checkBlocks(tree *Tree) {
	for _, b := range p.blocks {
		if tree.Blocks[b.Name] != nil {
			p.failAt(b.At(), "block %s defined twice", python.Repr(b.Name))
			return
		}
		tree.Blocks[b.Name] = b
	}
}

func (p *parser) checkReferences() {
	for _, r := range p.checked {
		has := p.opt.HasFilter
		if r.what == "test" {
			has = p.opt.HasTest
		}
		if has != nil && !r.soft && !has(r.name) {
			p.failAt(r.line, "No %s named %s.", r.what, python.Repr(r.name))
			return
		}
	}
}

// soften marks what was referred to since from as lying below a condition.
func (p *parser) soften(from int) {
	for i := from; i < len(p.checked); i++ {
		if !p.checked[i].fixed {
			p.checked[i].soft = true
		}
	}
}

// fix keeps a later soften from what was referred to since from.
func (p *parser) fix(from int) {
	for i := from; i < len(p.checked); i++ {
		p.checked[i].fixed = true
	}
}

func (p *parser) cur() token { return p.toks[p.pos] }

func (p *parser) look() token { return p.toks[min(p.pos+1, len(p.toks)-1)] }

func (p *parser) next() token {
	t := p.toks[p.pos]
	if p.pos < len(p.toks)-1 {
		p.pos++
		p.checkToken()
	}
	return t
}

// checkToken ends the parser where the lexer could not go on.
func (p *parser) checkToken() {
	if p.lexErr != nil && p.err == nil && p.pos == len(p.toks)-1 {
		p.err = p.lexErr
	}
}

func (p *parser) skipIf(expr string) bool {
	if p.cur().is(expr) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(expr string) token {
	t := p.cur()
	switch {
	case p.err != nil:
	case t.is(expr):
		return p.next()
	case t.kind == "eof":
		p.failAt(t.line, "unexpected end of template, expected %s.", python.Repr(describeExpr(expr)))
	default:
		p.failAt(t.line, "expected token %s, got %s", python.Repr(describeExpr(expr)), python.Repr(t.describe()))
	}
	return token{line: t.line, kind: "eof"}
}

func (p *parser) failAt(line int, format string, a ...any) {
	if p.err == nil {
		p.err = &Error{Text: fmt.Sprintf(format, a...), Line: line}
	}
	p.pos = len(p.toks) - 1
}

func (p *parser) fail(format string, a ...any) { p.failAt(p.cur().line, format, a...) }

// maxChain is how many operators, attributes or filters may follow each other: each lies around those before it.
const maxChain = 500

// link counts one more of a chain; false, with an error, where it is too long.
func (p *parser) link(n *int) bool {
	if *n++; *n > maxChain {
		p.fail("the template is nested too deeply")
		return false
	}
	return true
}

// enter goes one level down; it reports false, with an error, where that is too deep.
func (p *parser) enter() bool {
	if p.depth++; p.depth > maxDepth {
		p.fail("the template is nested too deeply")
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

// unknownTag is the error of a tag that is not expected (name), or of the end of the template ("").
func (p *parser) unknownTag(name string, line int) {
	message := "Unexpected end of template."
	if name != "" {
		message = "Encountered unknown tag " + python.Repr(name) + "."
	}
	if n := len(p.ends); n > 0 {
		var looking []string
		for _, e := range p.ends[n-1] {
			looking = append(looking, python.Repr(describeExpr(e)))
		}
		or := strings.Join(looking, " or ")
		if name != "" && p.expected(name) {
			message += " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for " +
				or + "."
		} else {
			message += " Jinja was looking for the following tags: " + or + "."
		}
	}
	if n := len(p.tags); n > 0 {
		message += " The innermost block that needs to be closed is " + python.Repr(p.tags[n-1]) + "."
	}
	p.failAt(line, "%s", message)
}

func (p *parser) expected(name string) bool {
	for _, exprs := range p.ends {
		for _, e := range exprs {
			if describeExpr(e) == name {
				return true
			}
		}
	}
	return false
}

// subparse reads text and tags up to one of the end tags, which stays the current token.
func (p *parser) subparse(ends []string) []Stmt {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	if ends != nil {
		p.ends = append(p.ends, ends)
		defer func() { p.ends = p.ends[:len(p.ends)-1] }()
	}
	var body []Stmt
	var out *Output
	add := func(e Expr) {
		if out == nil {
			out = &Output{Pos: Pos(e.At())}
			body = append(body, out)
		}
		out.Items = append(out.Items, e)
	}
	for p.err == nil && p.cur().kind != "eof" {
		t := p.next()
		switch t.kind {
		case "data":
			add(&Data{Pos(t.line), t.text})
		case "variable_begin":
			if e := p.tuple(tupleOptions{}); e != nil && p.err == nil {
				add(e)
			}
			p.expect("variable_end")
		case "block_begin":
			out = nil
			if ends != nil && p.cur().isAny(ends...) {
				return body
			}
			body = append(body, p.statement()...)
			p.expect("block_end")
		default:
			p.failAt(t.line, "internal parsing error")
		}
	}
	return body
}

// statements reads the body of a tag up to one of the end tags; drop takes that too.
func (p *parser) statements(drop bool, ends ...string) []Stmt {
	p.skipIf("colon")
	p.expect("block_end")
	body := p.subparse(ends)
	if p.err == nil && p.cur().kind == "eof" {
		p.ends = append(p.ends, ends)
		p.unknownTag("", p.cur().line)
		p.ends = p.ends[:len(p.ends)-1]
	}
	if drop {
		p.next()
	}
	return body
}

// scoped reads the body of a tag that is a scope of its own.
func (p *parser) scoped(ends ...string) []Stmt {
	from := len(p.checked)
	p.inner++
	body := p.statements(true, ends...)
	p.inner--
	p.fix(from)
	return body
}
