package syntax

import "strings"

// importContext reads "with context" or "without context"; given says whether it was there.
func (p *parser) importContext(def bool) (with, given bool) {
	if p.cur().isAny("name:with", "name:without") && p.look().is("name:context") {
		with = p.next().text == "with"
		p.next()
		return with, true
	}
	return def, false
}

func (p *parser) includeTag() []Stmt {
	n := &Include{Pos: Pos(p.next().line)}
	n.Template = p.expression(true)
	if p.cur().is("name:ignore") && p.look().is("name:missing") {
		n.IgnoreMissing = true
		p.next()
		p.next()
	}
	n.WithContext, _ = p.importContext(true)
	return one(n)
}

func (p *parser) importTag() []Stmt {
	n := &Import{Pos: Pos(p.next().line)}
	n.Template = p.expression(true)
	p.expect("name:as")
	n.Target = p.expect("name").text
	n.WithContext, _ = p.importContext(false)
	return one(n)
}

func (p *parser) importDataTag() []Stmt {
	load := strings.TrimPrefix(p.cur().text, "import_")
	out := p.importTag()
	out[0].(*Import).Load = load
	return out
}

func (p *parser) fromTag() []Stmt {
	n := &FromImport{Pos: Pos(p.next().line)}
	n.Template = p.expression(true)
	p.expect("name:import")
	for p.err == nil {
		if len(n.Names) > 0 {
			p.expect("comma")
		}
		if p.cur().kind != "name" {
			p.expect("name")
			break
		}
		if with, given := p.importContext(false); given {
			n.WithContext = with
			break
		}
		p.importedName(n)
		with, given := p.importContext(false)
		if given {
			n.WithContext = with
			break
		}
		if p.cur().kind != "comma" {
			break
		}
	}
	return one(n)
}

func (p *parser) importedName(n *FromImport) {
	name := p.expect("name")
	if strings.HasPrefix(name.text, "_") {
		p.failAt(name.line, "names starting with an underline can not be imported")
	}
	alias := name.text
	if p.skipIf("name:as") {
		alias = p.expect("name").text
	}
	n.Names, n.Aliases = append(n.Names, name.text), append(n.Aliases, alias)
}

func (p *parser) macroTag() []Stmt {
	n := &Macro{Pos: Pos(p.next().line)}
	n.Name = p.expect("name").text
	p.macro(n, true, "name:endmacro")
	return one(n)
}

func (p *parser) callTag() []Stmt {
	line := p.next().line
	n := &CallBlock{Pos: Pos(line), Body: &Macro{Pos: Pos(line), CallX: true}}
	from := len(p.checked)
	p.inner++
	if p.cur().kind == "lparen" {
		p.signature(n.Body)
	}
	call, ok := p.expression(true).(*Call)
	if !ok {
		p.failAt(line, "expected call")
	}
	n.Call = call
	p.macroBody(n.Body, "name:endcall")
	p.inner--
	p.fix(from)
	return one(n)
}

// macro reads the arguments and the body of a macro.
func (p *parser) macro(n *Macro, signature bool, end string) {
	from := len(p.checked)
	p.inner++
	if signature {
		p.signature(n)
	}
	p.macroBody(n, end)
	p.inner--
	p.fix(from)
}

func (p *parser) macroBody(n *Macro, end string) {
	names := len(p.names)
	n.Body = p.statements(true, end)
	used := p.names[min(names, len(p.names)):]
	n.Varargs = contains(used, "varargs") && !contains(n.Args, "varargs")
	n.Kwargs = contains(used, "kwargs") && !contains(n.Args, "kwargs")
	n.Caller = contains(used, "caller")
	if !n.Caller || p.err != nil {
		return
	}
	for i, a := range n.Args {
		if a == "caller" && i < len(n.Args)-len(n.Defaults) {
			p.failAt(n.At(),
				`When defining macros or call blocks the special "caller" argument must be omitted or be given a default.`)
		}
	}
}

func (p *parser) signature(n *Macro) {
	p.expect("lparen")
	for p.err == nil && p.cur().kind != "rparen" {
		if len(n.Args) > 0 {
			p.expect("comma")
		}
		name := p.expect("name").text
		if p.skipIf("assign") {
			n.Defaults = append(n.Defaults, p.expression(true))
		} else if len(n.Defaults) > 0 {
			p.fail("non-default argument follows default argument")
		}
		n.Args = append(n.Args, name)
	}
	p.expect("rparen")
}
