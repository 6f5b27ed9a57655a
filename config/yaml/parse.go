package yaml

type nodeKind uint8

const (
	scalarNode nodeKind = iota
	sequenceNode
	mappingNode
)

// node is a value as written: a scalar, a sequence, or a mapping with alternating keys and values. An alias is the node
// that it names.
type node struct {
	kind  nodeKind
	tag   string // the full tag
	text  string // of a scalar
	items []*node
	start mark
}

// maxDepth is the deepest nesting of collections: about where Python gives up.
const maxDepth = 1000

// parser makes nodes from tokens, with the grammar of libyaml (parser.c). After an error its functions return nil.
type parser struct {
	s       *scanner
	err     *Error
	tags    map[string]string // prefixes by handle
	anchors map[string]*node
	aliases int
	depth   int
	slab    []node                 // memory for nodes
	spend   func(values int) error // called before each node; nil: no limit
	refused error                  // the error of spend
}

// parse returns the content of the only document of a text, nil if there is none, and whether it has aliases.
func parse(src string, spend func(values int) error) (root *node, aliases bool, err *Error, refused error) {
	p := &parser{s: newScanner(src), spend: spend}
	root = p.stream()
	return root, p.aliases > 0, p.err, p.refused
}

// peek is the next token. After an error it is the end of the stream.
func (p *parser) peek() *token {
	if p.err == nil {
		if t := p.s.peek(); t != nil {
			return t
		}
		p.err = p.s.err
	}
	return &token{kind: tokStreamEnd}
}

func (p *parser) fail(context string, start mark, problem string, at mark) {
	if p.err == nil {
		p.err = newError(ParserError, context, start, problem, at)
	}
}

func (p *parser) newNode(n node) *node {
	if p.spend != nil && p.err == nil {
		if p.refused = p.spend(1); p.refused != nil {
			p.fail("", n.start, "too many values", n.start)
		}
	}
	const slabSize = 64
	if len(p.slab) == 0 {
		p.slab = make([]node, slabSize)
	}
	out := &p.slab[0]
	p.slab = p.slab[1:]
	*out = n
	return out
}

// empty makes the scalar for a missing value.
func (p *parser) empty(at mark) *node { return p.newNode(node{tag: tagNull, start: at}) }

func (p *parser) stream() *node {
	var root *node
	switch t := p.peek(); t.kind {
	case tokStreamEnd:
		return nil
	case tokVersion, tokTagPrefix, tokDocumentStart:
		root = p.explicitDocument()
	default:
		p.directives()
		root = p.node(true, false)
	}
	t := p.peek()
	for ; t.kind == tokDocumentEnd; t = p.peek() {
		p.s.take()
	}
	start := t.start
	if p.err == nil && t.kind != tokStreamEnd {
		p.directives()
		if t = p.peek(); p.err == nil && t.kind != tokDocumentStart {
			p.fail("", mark{}, "did not find expected <document start>", t.start)
		}
		if p.err == nil {
			p.err = newError(ComposerError, "expected a single document in the stream", root.start,
				"but found another document", start)
		}
	}
	if p.err != nil {
		return nil
	}
	return root
}

// explicitDocument reads a document that begins with directives or "---".
func (p *parser) explicitDocument() *node {
	p.directives()
	t := p.peek()
	if t.kind != tokDocumentStart {
		p.fail("", mark{}, "did not find expected <document start>", t.start)
		return nil
	}
	p.s.take()
	switch t := p.peek(); t.kind {
	case tokVersion, tokTagPrefix, tokDocumentStart, tokDocumentEnd, tokStreamEnd:
		return p.empty(t.start)
	}
	return p.node(true, false)
}

// directives reads %YAML and %TAG.
func (p *parser) directives() {
	p.tags = map[string]string{}
	version := false
	for t := p.peek(); t.kind == tokVersion || t.kind == tokTagPrefix; t = p.peek() {
		_, twice := p.tags[t.text]
		switch {
		case t.kind == tokVersion && version:
			p.fail("", mark{}, "found duplicate %YAML directive", t.start)
		case t.kind == tokVersion && t.text != "1.1" && t.text != "1.2":
			p.fail("", mark{}, "found incompatible YAML document", t.start)
		case t.kind == tokVersion:
			version = true
		case twice:
			p.fail("", mark{}, "found duplicate %TAG directive", t.start)
		default:
			p.tags[t.text] = t.suffix
		}
		if p.err != nil {
			return
		}
		p.s.take()
	}
	for handle, prefix := range map[string]string{"!": "!", "!!": tagPrefix} {
		if _, own := p.tags[handle]; !own {
			p.tags[handle] = prefix
		}
	}
}

// properties are the tag and the anchor of a node.
type properties struct {
	start       mark
	tag, anchor string
	found       bool
}

// properties reads an anchor and a tag, in either order.
func (p *parser) properties() properties {
	t := p.peek()
	props := properties{start: t.start}
	var handle, suffix string
	var tagMark mark
	tagged := false
	for range 2 {
		switch t = p.peek(); {
		case t.kind == tokAnchor && props.anchor == "":
			props.anchor = t.text
		case t.kind == tokTag && !tagged:
			handle, suffix, tagMark, tagged = t.text, t.suffix, t.start, true
		default:
			continue
		}
		props.found = true
		p.s.take()
	}
	if !tagged {
		return props
	}
	prefix, known := p.tags[handle]
	if handle != "" && !known {
		p.fail("while parsing a node", props.start, "found undefined tag handle", tagMark)
	}
	props.tag = prefix + suffix
	return props
}

// node reads a node. In flow collections block is false. indentless says that a sequence may begin without indentation.
func (p *parser) node(block, indentless bool) *node {
	t := p.peek()
	if p.err != nil {
		return nil
	}
	if t.kind == tokAlias {
		return p.alias(t)
	}
	props := properties{start: t.start}
	if t.kind == tokAnchor || t.kind == tokTag {
		props = p.properties()
		t = p.peek()
	}
	if p.err != nil {
		return nil
	}
	n := p.newNode(node{start: props.start, tag: props.tag})
	switch {
	case t.kind == tokScalar:
		n.text = t.text
		n.tag = scalarTag(props.tag, t.plain, t.text)
		p.s.take()
		p.anchor(n, props)
		return n
	case t.kind == tokEntry && indentless:
		n.kind = sequenceNode
	case t.kind == tokFlowSequence, t.kind == tokBlockSequence && block:
		n.kind = sequenceNode
	case t.kind == tokFlowMapping, t.kind == tokBlockMapping && block:
		n.kind = mappingNode
	case props.found:
		n.tag = scalarTag(props.tag, props.tag == "", "")
		if props.tag == "!" {
			n.tag = tagStr
		}
		p.anchor(n, props)
		return n
	default:
		p.fail(either(block, "while parsing a block node", "while parsing a flow node"), props.start,
			"did not find expected node content", t.start)
		return nil
	}
	p.anchor(n, props)
	p.collection(n, t.kind)
	return n
}

// scalarTag is the tag of a scalar: the written one, or the one that its text resolves to. A lone "!" makes even a
// quoted text resolve like a plain one.
func scalarTag(tag string, plain bool, text string) string {
	switch {
	case tag == "!", tag == "" && plain:
		return resolve(text)
	case tag == "":
		return tagStr
	}
	return tag
}

func (p *parser) alias(t *token) *node {
	n := p.anchors[t.text]
	if n == nil {
		p.err = newError(ComposerError, "", mark{}, "found undefined alias", t.start)
		return nil
	}
	p.aliases++
	p.s.take()
	return n
}

func (p *parser) anchor(n *node, props properties) {
	if props.anchor == "" || p.err != nil {
		return
	}
	if first := p.anchors[props.anchor]; first != nil {
		p.err = newError(ComposerError, "found duplicate anchor; first occurrence", first.start, "second occurrence",
			n.start)
		return
	}
	if p.anchors == nil {
		p.anchors = map[string]*node{}
	}
	p.anchors[props.anchor] = n
}

// collection reads the items of a collection that begins with the current token.
func (p *parser) collection(n *node, kind tokenKind) {
	if p.depth++; p.depth > maxDepth && p.err == nil {
		p.err = errDeep(n)
	}
	if p.err == nil {
		if n.tag == "" || n.tag == "!" {
			n.tag = either(n.kind == sequenceNode, tagSeq, tagMap)
		}
		switch kind {
		case tokEntry:
			p.indentless(n)
		case tokBlockSequence:
			p.blockSequence(n)
		case tokBlockMapping:
			p.blockMapping(n)
		case tokFlowSequence:
			p.flowSequence(n)
		case tokFlowMapping:
			p.flowMapping(n)
		}
	}
	p.depth--
}
