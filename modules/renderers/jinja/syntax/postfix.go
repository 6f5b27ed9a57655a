package syntax

import "brine/wire/python"

func quoteWord(s string) string { return python.Repr(s) }

// postfix reads attributes, subscripts and calls behind a value.
func (p *parser) postfix(e Expr) Expr {
	for chain := 0; p.link(&chain); {
		switch p.cur().kind {
		case "dot", "lbracket":
			e = p.subscript(e)
		case "lparen":
			e = p.call(e)
		default:
			return e
		}
	}
	return e
}

// filterExpr reads filters, tests and calls behind a value.
func (p *parser) filterExpr(e Expr) Expr {
	for chain := 0; p.link(&chain); {
		switch t := p.cur(); {
		case t.kind == "pipe":
			e = p.filters(e, false)
		case t.is("name:is"):
			e = p.test(e)
		case t.kind == "lparen":
			e = p.call(e)
		default:
			return e
		}
	}
	return e
}

func (p *parser) call(fn Expr) Expr {
	line := p.cur().line
	return &Call{Pos(line), fn, p.args()}
}

func (p *parser) subscript(e Expr) Expr {
	t := p.next()
	at := Pos(t.line)
	if t.kind == "dot" {
		attr := p.next()
		switch attr.kind {
		case "name":
			return &Getattr{at, e, attr.text}
		case "integer":
			return &Getitem{at, e, &Const{Pos(attr.line), attr.num}}
		}
		p.failAt(attr.line, "expected name or number")
		return e
	}
	var args []Expr
	for p.err == nil && p.cur().kind != "rbracket" {
		if len(args) > 0 {
			p.expect("comma")
		}
		args = append(args, p.subscribed())
	}
	p.expect("rbracket")
	if len(args) == 1 {
		return &Getitem{at, e, args[0]}
	}
	return &Getitem{at, e, &Tuple{at, args}}
}

// subscribed reads what stands in a subscript: a value or a slice.
func (p *parser) subscribed() Expr {
	n := &Slice{Pos: Pos(p.cur().line)}
	if p.cur().kind != "colon" {
		e := p.expression(true)
		if p.cur().kind != "colon" {
			return e
		}
		n.Start = e
	}
	p.next()
	if !p.cur().isAny("colon", "rbracket", "comma") {
		n.Stop = p.expression(true)
	}
	if p.skipIf("colon") && !p.cur().isAny("rbracket", "comma") {
		n.Step = p.expression(true)
	}
	return n
}

// args reads the arguments of a call with their parentheses.
func (p *parser) args() Args {
	var a Args
	open := p.expect("lparen")
	ensure := func(ok bool) {
		if !ok {
			p.failAt(open.line, "invalid syntax for function call expression")
		}
	}
	for first := true; p.err == nil && p.cur().kind != "rparen"; first = false {
		if !first {
			p.expect("comma")
			if p.cur().kind == "rparen" {
				break
			}
		}
		switch t := p.cur(); {
		case t.kind == "mul":
			ensure(a.Dyn == nil && a.DynK == nil)
			p.next()
			a.Dyn = p.expression(true)
		case t.kind == "pow":
			ensure(a.DynK == nil)
			p.next()
			a.DynK = p.expression(true)
		case t.kind == "name" && p.look().kind == "assign":
			ensure(a.DynK == nil)
			p.next()
			p.next()
			a.Names = append(a.Names, t.text)
			a.Values = append(a.Values, p.expression(true))
		default:
			ensure(a.Dyn == nil && a.DynK == nil && len(a.Names) == 0)
			a.Pos = append(a.Pos, p.expression(true))
		}
	}
	p.expect("rparen")
	return a
}

// dotted reads the name of a filter or test, which may have dots in it.
func (p *parser) dotted() string {
	name := p.expect("name").text
	for p.skipIf("dot") {
		name += "." + p.expect("name").text
	}
	return name
}

// filters reads |a|b(c); inline reads the first without its bar.
func (p *parser) filters(e Expr, inline bool) Expr {
	for chain := 0; p.err == nil && (inline || p.cur().kind == "pipe") && p.link(&chain); {
		if !inline {
			p.next()
		}
		inline = false
		f := &Filter{Pos: Pos(p.cur().line), X: e}
		f.Name = p.dotted()
		p.checked = append(p.checked, reference{what: "filter", name: f.Name, line: f.At()})
		if p.cur().kind == "lparen" {
			f.Args = p.args()
		}
		e = f
	}
	return e
}

func (p *parser) test(e Expr) Expr {
	n := &Test{Pos: Pos(p.next().line), X: e}
	negated := p.skipIf("name:not")
	n.Name = p.dotted()
	p.checked = append(p.checked, reference{what: "test", name: n.Name, line: n.At()})
	switch t := p.cur(); {
	case t.kind == "lparen":
		n.Args = p.args()
	case t.isAny("name", "string", "integer", "float", "lbracket", "lbrace") && !t.isAny("name:else", "name:or",
		"name:and"):
		if t.is("name:is") {
			p.fail("You cannot chain multiple tests with is")
		}
		n.Args.Pos = []Expr{p.postfix(p.primary(false))}
	}
	if negated {
		return &Not{n.Pos, n}
	}
	return n
}

// targetOptions say which targets of an assignment are allowed.
type targetOptions struct {
	tuple, namespace bool
	ends             []string
}

// target reads what is assigned to.
func (p *parser) target(o targetOptions) Expr {
	names := len(p.names)
	e := p.tuple(tupleOptions{names: true, namespace: o.namespace, ends: o.ends})
	p.names = p.names[:min(names, len(p.names))] // written, not read
	p.assignable(e)
	return e
}

var literalWords = map[bool]string{true: "const", false: "dict"}

func (p *parser) assignable(e Expr) {
	switch e := e.(type) {
	case *Name:
		if e.Name == "loop" && p.loops > 0 {
			p.failAt(e.At(), "Can't assign to special loop variable in for-loop target")
		}
	case *NSRef:
	case *Tuple:
		for _, item := range e.Items {
			if !canAssign(item) {
				p.failAt(e.At(), "can't assign to 'tuple'")
			}
			p.assignable(item)
		}
	case *List:
		p.failAt(e.At(), "can't assign to 'list'")
	case *Const, *Dict:
		_, isConst := e.(*Const)
		p.failAt(e.At(), "can't assign to %s", quoteWord(literalWords[isConst]))
	}
}

func canAssign(e Expr) bool {
	switch e := e.(type) {
	case *Name, *NSRef:
		return true
	case *Tuple:
		for _, item := range e.Items {
			if !canAssign(item) {
				return false
			}
		}
		return true
	}
	return false
}
