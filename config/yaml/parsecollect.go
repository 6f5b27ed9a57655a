package yaml

// blockSequence reads the items after "-".
func (p *parser) blockSequence(n *node) {
	start := p.peek().start
	p.s.take()
	for p.err == nil {
		t := p.peek()
		switch t.kind {
		case tokEntry:
			p.entry(n, false)
		case tokBlockEnd:
			p.s.take()
			return
		default:
			p.fail("while parsing a block collection", start, "did not find expected '-' indicator", t.start)
		}
	}
}

// indentless reads a sequence that is not indented further than the key before it.
func (p *parser) indentless(n *node) {
	for p.err == nil && p.peek().kind == tokEntry {
		p.entry(n, true)
	}
}

func (p *parser) entry(n *node, indentless bool) {
	at := p.peek().end
	p.s.take()
	switch kind := p.peek().kind; {
	case kind == tokEntry, kind == tokBlockEnd, indentless && (kind == tokKey || kind == tokValue):
		n.items = append(n.items, p.empty(at))
	default:
		n.items = append(n.items, p.node(true, false))
	}
}

func (p *parser) blockMapping(n *node) {
	start := p.peek().start
	p.s.take()
	for p.err == nil {
		t := p.peek()
		switch t.kind {
		case tokKey:
			key := p.blockItem()
			value := (*node)(nil)
			if t := p.peek(); t.kind == tokValue {
				value = p.blockItem()
			} else {
				value = p.empty(t.start)
			}
			n.items = append(n.items, key, value)
		case tokBlockEnd:
			p.s.take()
			return
		default:
			p.fail("while parsing a block mapping", start, "did not find expected key", t.start)
		}
	}
}

// blockItem reads the node after a key or value indicator; it may be missing.
func (p *parser) blockItem() *node {
	at := p.peek().end
	p.s.take()
	switch p.peek().kind {
	case tokKey, tokValue, tokBlockEnd:
		return p.empty(at)
	}
	return p.node(true, true)
}

func (p *parser) flowSequence(n *node) {
	start := p.peek().start
	p.s.take()
	for first := true; p.err == nil; first = false {
		t := p.peek()
		if t.kind == tokFlowSequenceEnd {
			break
		}
		if !first {
			if t.kind != tokFlowEntry {
				p.fail("while parsing a flow sequence", start, "did not find expected ',' or ']'", t.start)
				return
			}
			p.s.take()
			t = p.peek()
		}
		switch t.kind {
		case tokFlowSequenceEnd:
		case tokKey:
			n.items = append(n.items, p.singlePair())
		default:
			n.items = append(n.items, p.node(false, false))
		}
	}
	if p.err == nil {
		p.s.take()
	}
}

// singlePair reads "key: value" as an item of a sequence. Like libyaml, it loses a token if there is no key.
func (p *parser) singlePair() *node {
	pair := p.newNode(node{kind: mappingNode, tag: tagMap, start: p.peek().start})
	p.s.take()
	var key *node
	switch t := p.peek(); t.kind {
	case tokValue, tokFlowEntry, tokFlowSequenceEnd:
		key = p.empty(t.end)
		p.s.take()
	default:
		key = p.node(false, false)
	}
	pair.items = []*node{key, p.flowValue(tokFlowSequenceEnd)}
	return pair
}

func (p *parser) flowMapping(n *node) {
	start := p.peek().start
	p.s.take()
	for first := true; p.err == nil; first = false {
		t := p.peek()
		if t.kind == tokFlowMappingEnd {
			break
		}
		if !first {
			if t.kind != tokFlowEntry {
				p.fail("while parsing a flow mapping", start, "did not find expected ',' or '}'", t.start)
				return
			}
			p.s.take()
			t = p.peek()
		}
		switch t.kind {
		case tokFlowMappingEnd:
		case tokKey:
			p.s.take()
			key := p.flowItem(tokFlowMappingEnd)
			n.items = append(n.items, key, p.flowValue(tokFlowMappingEnd))
		default:
			key := p.node(false, false)
			n.items = append(n.items, key, p.empty(p.peek().start))
		}
	}
	if p.err == nil {
		p.s.take()
	}
}

// flowItem reads a key or value that may be missing.
func (p *parser) flowItem(end tokenKind) *node {
	switch t := p.peek(); t.kind {
	case end, tokFlowEntry, tokValue:
		return p.empty(t.start)
	}
	return p.node(false, false)
}

func (p *parser) flowValue(end tokenKind) *node {
	t := p.peek()
	if t.kind != tokValue {
		return p.empty(t.start)
	}
	p.s.take()
	switch t := p.peek(); t.kind {
	case end, tokFlowEntry:
		return p.empty(t.start)
	}
	return p.node(false, false)
}
