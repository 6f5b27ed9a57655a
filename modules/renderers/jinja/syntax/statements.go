package syntax

import "strings"

// one wraps a statement for the readers of tags, of which Salt's give several.
func one(s Stmt) []Stmt { return []Stmt{s} }

// tag returns the reader of a tag, nil if there is no such tag.
func tag(name string) func(p *parser) []Stmt {
	switch name {
	case "for":
		return (*parser).forTag
	case "if":
		return (*parser).ifTag
	case "set":
		return (*parser).setTag
	case "with":
		return (*parser).withTag
	case "macro":
		return (*parser).macroTag
	case "call":
		return (*parser).callTag
	case "filter":
		return (*parser).filterTag
	case "block":
		return (*parser).blockTag
	case "extends", "do", "print", "autoescape", "break", "continue":
		return (*parser).smallTag
	case "include":
		return (*parser).includeTag
	case "import":
		return (*parser).importTag
	case "from":
		return (*parser).fromTag
	case "load_yaml", "load_json", "load_text":
		return (*parser).loadTag
	case "import_yaml", "import_json", "import_text":
		return (*parser).importDataTag
	case "profile":
		return (*parser).profileTag
	}
	return nil
}

func (p *parser) statement() []Stmt {
	t := p.cur()
	if t.kind != "name" {
		p.failAt(t.line, "tag name expected")
		return nil
	}
	read := tag(t.text)
	if read == nil {
		p.unknownTag(t.text, t.line)
		return nil
	}
	p.tags = append(p.tags, t.text)
	out := read(p)
	p.tags = p.tags[:len(p.tags)-1]
	return out
}

func (p *parser) smallTag() []Stmt {
	t := p.next()
	at := Pos(t.line)
	switch t.text {
	case "extends":
		x := p.expression(true)
		if p.inner > 0 {
			p.failAt(t.line, "cannot use extend from a non top-level scope")
		}
		return one(&Extends{at, x})
	case "do":
		return one(&Do{at, p.tuple(tupleOptions{})})
	case "break":
		return one(&Break{at})
	case "continue":
		return one(&Continue{at})
	case "autoescape":
		on := p.expression(true)
		return one(&Autoescape{at, on, p.scoped("name:endautoescape")})
	}
	out := &Output{Pos: at}
	for p.err == nil && p.cur().kind != "block_end" {
		if len(out.Items) > 0 {
			p.expect("comma")
		}
		out.Items = append(out.Items, p.expression(true))
	}
	return one(out)
}

func (p *parser) setTag() []Stmt {
	at := Pos(p.next().line)
	target := p.target(targetOptions{tuple: true, namespace: true})
	if p.skipIf("assign") {
		return one(&Assign{at, target, p.tuple(tupleOptions{})})
	}
	f := p.filters(nil, false)
	body := p.scoped("name:endset")
	filter, _ := f.(*Filter)
	return one(&AssignBlock{at, target, filter, body})
}

func (p *parser) forTag() []Stmt {
	n := &For{Pos: Pos(p.next().line)}
	p.loops++
	defer func() { p.loops-- }()
	n.Target = p.target(targetOptions{tuple: true, ends: []string{"name:in"}})
	p.expect("name:in")
	n.Iter = p.tuple(tupleOptions{noCond: true, ends: []string{"name:recursive"}})
	from := len(p.checked)
	p.inner++
	if p.skipIf("name:if") {
		n.Test = p.expression(true)
	}
	n.Recursive = p.skipIf("name:recursive")
	names, blocks := len(p.names), len(p.blocks)
	n.Body = p.statements(false, "name:endfor", "name:else")
	n.UsesLoop = n.Recursive || contains(p.names[min(names, len(p.names)):], "loop")
	for _, b := range p.blocks[min(blocks, len(p.blocks)):] {
		n.UsesLoop = n.UsesLoop || b.Scoped
	}
	if p.next().text == "else" {
		n.Else = p.statements(true, "name:endfor")
	}
	p.inner--
	p.fix(from)
	return one(n)
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func (p *parser) ifTag() []Stmt {
	t := p.next()
	n := &If{Pos: Pos(t.line)}
	from := len(p.checked)
	line := t.line
	for p.err == nil {
		n.Lines = append(n.Lines, line)
		n.Tests = append(n.Tests, p.tuple(tupleOptions{noCond: true}))
		n.Bodies = append(n.Bodies, p.statements(false, "name:elif", "name:else", "name:endif"))
		end := p.next()
		if end.is("name:elif") {
			line = p.cur().line
			continue
		}
		if end.is("name:else") {
			n.Bodies = append(n.Bodies, p.statements(true, "name:endif"))
		}
		break
	}
	p.soften(from)
	return one(n)
}

func (p *parser) withTag() []Stmt {
	n := &With{Pos: Pos(p.next().line)}
	for p.err == nil && p.cur().kind != "block_end" {
		if len(n.Targets) > 0 {
			p.expect("comma")
		}
		n.Targets = append(n.Targets, p.target(targetOptions{tuple: true}))
		p.expect("assign")
		n.Values = append(n.Values, p.expression(true))
	}
	n.Body = p.scoped("name:endwith")
	return one(n)
}

func (p *parser) blockTag() []Stmt {
	n := &Block{Pos: Pos(p.next().line)}
	n.Name = p.expect("name").text
	n.Scoped = p.skipIf("name:scoped")
	n.Required = p.skipIf("name:required")
	if p.cur().kind == "sub" {
		p.fail("Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an " +
			"underscore instead.")
	}
	p.blocks = append(p.blocks, n)
	names := len(p.names)
	n.Body = p.scoped("name:endblock")
	p.names = p.names[:min(names, len(p.names))]
	if n.Required && p.err == nil {
		p.onlySpace(n.Body)
	}
	p.skipIf("name:" + n.Name)
	return one(n)
}

// onlySpace refuses a required block with a body.
func (p *parser) onlySpace(body []Stmt) {
	for _, s := range body {
		out, ok := s.(*Output)
		for i := 0; ok && i < len(out.Items); i++ {
			d, isData := out.Items[i].(*Data)
			ok = isData && strings.TrimSpace(d.Text) == ""
		}
		if !ok {
			p.fail("Required blocks can only contain comments or whitespace")
		}
	}
}

func (p *parser) filterTag() []Stmt {
	at := Pos(p.next().line)
	f, _ := p.filters(nil, true).(*Filter)
	return one(&FilterBlock{at, f, p.scoped("name:endfilter")})
}

func (p *parser) loadTag() []Stmt {
	t := p.next()
	n := &Load{Pos: Pos(t.line), Format: strings.TrimPrefix(t.text, "load_")}
	p.expect("name:as")
	n.Target = p.target(targetOptions{tuple: true})
	n.Body = p.scoped("name:endload")
	return one(n)
}

// profileTag reads Salt's profile. The times it would log are not taken: the body stands for itself.
func (p *parser) profileTag() []Stmt {
	at := Pos(p.next().line)
	p.expect("name:as")
	label := p.expression(true)
	body := p.statements(true, "name:endprofile")
	return append(one(&Do{at, label}), body...)
}
