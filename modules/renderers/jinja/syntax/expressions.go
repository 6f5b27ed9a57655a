package syntax

// expression reads one expression; cond allows a if b else c at its top.
func (p *parser) expression(cond bool) Expr {
	if !p.enter() {
		return &Const{}
	}
	defer p.leave()
	if !cond {
		return p.or()
	}
	line, from := p.cur().line, len(p.checked)
	e := p.or()
	for chain := 0; p.skipIf("name:if") && p.link(&chain); {
		n := &Cond{Pos: Pos(line), Then: e, Test: p.or()}
		if p.skipIf("name:else") {
			n.Else = p.expression(true)
		}
		e, line = n, p.cur().line
		p.soften(from)
	}
	return e
}

func (p *parser) or() Expr {
	line := p.cur().line
	left := p.and()
	for chain := 0; p.skipIf("name:or") && p.link(&chain); {
		left = &Bool{Pos(line), true, left, p.and()}
		line = p.cur().line
	}
	return left
}

func (p *parser) and() Expr {
	line := p.cur().line
	left := p.not()
	for chain := 0; p.skipIf("name:and") && p.link(&chain); {
		left = &Bool{Pos(line), false, left, p.not()}
		line = p.cur().line
	}
	return left
}

func (p *parser) not() Expr {
	if !p.cur().is("name:not") {
		return p.compare()
	}
	if !p.enter() {
		return &Const{}
	}
	defer p.leave()
	line := p.next().line
	return &Not{Pos(line), p.not()}
}

var comparisons = map[string]string{"eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">="}

func (p *parser) compare() Expr {
	n := &Compare{Pos: Pos(p.cur().line), X: p.sum()}
	for {
		op, ok := comparisons[p.cur().kind]
		switch {
		case ok:
			p.next()
		case p.skipIf("name:in"):
			op = "in"
		case p.cur().is("name:not") && p.look().is("name:in"):
			p.next()
			p.next()
			op = "not in"
		case len(n.Ops) == 0:
			return n.X
		default:
			return n
		}
		n.Ops = append(n.Ops, op)
		n.With = append(n.With, p.sum())
		n.Pos = Pos(p.cur().line)
	}
}

// binary reads operators of one level, from left to right.
func (p *parser) binary(ops map[string]string, operand func() Expr) Expr {
	line := p.cur().line
	left := operand()
	for chain := 0; ; {
		op, ok := ops[p.cur().kind]
		if !ok || !p.link(&chain) {
			return left
		}
		p.next()
		left = &Binary{Pos(line), op, left, operand()}
		line = p.cur().line
	}
}

var (
	sums     = map[string]string{"add": "+", "sub": "-"}
	products = map[string]string{"mul": "*", "div": "/", "floordiv": "//", "mod": "%"}
	powers   = map[string]string{"pow": "**"}
)

func (p *parser) sum() Expr { return p.binary(sums, p.concat) }

func (p *parser) concat() Expr {
	line := p.cur().line
	items := []Expr{p.product()}
	for p.skipIf("tilde") {
		items = append(items, p.product())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &Concat{Pos(line), items}
}

func (p *parser) product() Expr { return p.binary(products, p.power) }

func (p *parser) power() Expr { return p.binary(powers, func() Expr { return p.unary(true) }) }

func (p *parser) unary(filtered bool) Expr {
	if !p.enter() {
		return &Const{}
	}
	defer p.leave()
	var e Expr
	switch t := p.cur(); t.kind {
	case "sub", "add":
		p.next()
		e = &Unary{Pos(t.line), map[string]string{"sub": "-", "add": "+"}[t.kind], p.unary(false)}
	default:
		e = p.primary(false)
	}
	e = p.postfix(e)
	if filtered {
		e = p.filterExpr(e)
	}
	return e
}

func (p *parser) primary(namespace bool) Expr {
	t := p.cur()
	at := Pos(t.line)
	switch t.kind {
	case "name":
		return p.name(namespace)
	case "string":
		text := ""
		for p.cur().kind == "string" {
			text += p.next().text
		}
		return &Const{at, text}
	case "integer", "float":
		p.next()
		return &Const{at, t.num}
	case "lparen":
		p.next()
		e := p.tuple(tupleOptions{parens: true})
		p.expect("rparen")
		return e
	case "lbracket":
		p.next()
		return &List{at, p.items("rbracket")}
	case "lbrace":
		return p.dict()
	}
	if p.err == nil {
		p.failAt(t.line, "unexpected %s", quoteWord(t.describe()))
	}
	return &Const{Pos: at}
}

func (p *parser) name(namespace bool) Expr {
	t := p.next()
	at := Pos(t.line)
	switch t.text {
	case "true", "True":
		return &Const{at, true}
	case "false", "False":
		return &Const{at, false}
	case "none", "None":
		return &Const{at, nil}
	}
	if namespace && p.skipIf("dot") {
		return &NSRef{at, t.text, p.expect("name").text}
	}
	p.names = append(p.names, t.text)
	return &Name{at, t.text}
}

// items reads expressions between commas up to the closing bracket.
func (p *parser) items(end string) []Expr {
	var out []Expr
	for p.err == nil && p.cur().kind != end {
		if len(out) > 0 {
			p.expect("comma")
		}
		if p.cur().kind == end {
			break
		}
		out = append(out, p.expression(true))
	}
	p.expect(end)
	return out
}

func (p *parser) dict() Expr {
	n := &Dict{Pos: Pos(p.next().line)}
	for p.err == nil && p.cur().kind != "rbrace" {
		if len(n.Keys) > 0 {
			p.expect("comma")
		}
		if p.cur().kind == "rbrace" {
			break
		}
		n.Keys = append(n.Keys, p.expression(true))
		p.expect("colon")
		n.Values = append(n.Values, p.expression(true))
	}
	p.expect("rbrace")
	return n
}

// tupleOptions say how far a tuple goes and what may stand in it.
type tupleOptions struct {
	names, namespace, noCond, parens bool
	ends                             []string
}

func (p *parser) tupleEnd(o tupleOptions) bool {
	return p.cur().isAny("variable_end", "block_end", "rparen") || p.cur().isAny(o.ends...)
}

// tuple reads an expression, or several between commas as a tuple.
func (p *parser) tuple(o tupleOptions) Expr {
	line := p.cur().line
	var items []Expr
	isTuple := false
	for p.err == nil {
		if len(items) > 0 {
			p.expect("comma")
		}
		if p.tupleEnd(o) {
			break
		}
		if o.names {
			items = append(items, p.primary(o.namespace))
		} else {
			items = append(items, p.expression(!o.noCond))
		}
		if p.cur().kind != "comma" {
			break
		}
		isTuple = true
		line = p.cur().line
	}
	if !isTuple {
		if len(items) > 0 {
			return items[0]
		}
		if !o.parens {
			p.fail("Expected an expression, got %s", quoteWord(p.cur().describe()))
			return &Const{Pos: Pos(line)}
		}
	}
	return &Tuple{Pos(line), items}
}
