package low

import (
	"fmt"
	"slices"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// requisiteTypes are the kinds of edges, the weakest first (RequisiteType).
var requisiteTypes = []string{"onfail", "onfail_any", "onfail_all", "require", "require_any", "onchanges",
	"onchanges_any", "watch", "watch_any", "prereq", "prerequired", "listen"}

// followed are those that make edges, in the order in which a chunk is asked for them.
var followed = []string{"require", "require_any", "watch", "watch_any", "prereq", "onfail", "onfail_any", "onfail_all",
	"onchanges", "onchanges_any"}

// node is a chunk in the graph, or its test run before a chunk with prereq.
type node struct {
	id       string
	chunk    *payload.Map
	out, in  []edges
	position int
	test     bool // it stands for the test run
}

// edges lead to or come from one other node; there is one of a kind at most.
type edges struct {
	to    *node
	kinds []string
}

// graph holds which chunk depends on which (DependencyGraph).
type graph struct {
	nodes  []*node
	byID   map[string]*node
	lookup map[[2]string][]*node // module, or "id", and name or ID
	keys   [][2]string           // of lookup, in the order in which they came up
	bySLS  map[string][]*node
	sls    []string

	disabled []string // kinds of requisites that mean nothing
}

func newGraph(disabled []string) *graph {
	return &graph{disabled: disabled, byID: map[string]*node{}, lookup: map[[2]string][]*node{},
		bySLS: map[string][]*node{}}
}

// node returns the node of an id, a new one if need be, that stands for a chunk. Of two chunks with one id the last
// counts.
func (g *graph) node(id string, chunk *payload.Map) *node {
	n := g.byID[id]
	if n == nil {
		n = &node{id: id, position: len(g.nodes)}
		g.byID[id] = n
		g.nodes = append(g.nodes, n)
	}
	n.chunk = chunk
	return n
}

func (g *graph) add(chunk *payload.Map) {
	n := g.node(Tag(chunk), chunk)
	state, name, id := python.Str(chunk.Value("state")), python.Str(chunk.Value("name")),
		python.Str(chunk.Value("__id__"))
	for _, key := range [][2]string{{state, name}, {state, id}, {"id", id}, {"id", name}} {
		if g.lookup[key] == nil {
			g.keys = append(g.keys, key)
		}
		g.lookup[key] = with(g.lookup[key], n)
	}
	names := payload.Texts(chunk.Value("__sls_included_from__"))
	if sls := chunk.Str("__sls__"); sls != "" {
		names = append([]string{sls}, names...)
	}
	for _, sls := range names {
		if g.bySLS[sls] == nil {
			g.sls = append(g.sls, sls)
		}
		g.bySLS[sls] = with(g.bySLS[sls], n)
	}
}

func with(list []*node, n *node) []*node {
	if slices.Contains(list, n) {
		return list
	}
	return append(list, n)
}

// connect adds an edge: to waits for from.
func connect(from, to *node, kind string) {
	from.out, to.in = join(from.out, to, kind), join(to.in, from, kind)
}

func join(list []edges, n *node, kind string) []edges {
	i := slices.IndexFunc(list, func(e edges) bool { return e.to == n })
	if i < 0 {
		return append(list, edges{n, []string{kind}})
	}
	if !slices.Contains(list[i].kinds, kind) {
		list[i].kinds = append(list[i].kinds, kind)
	}
	return list
}

// require adds the edges of a chunk's requisites. It returns what is wrong with one, in Salt's words.
func (g *graph) require(chunk *payload.Map) string {
	for _, kind := range followed {
		refs, _ := chunk.Value(kind).([]any)
		if slices.Contains(g.disabled, kind) {
			continue
		}
		for _, ref := range refs {
			if text, ok := ref.(string); ok {
				ref = payload.M("id", text)
			}
			m, _ := ref.(*payload.Map)
			if m.Len() == 0 {
				continue
			}
			first := m.Keys()[0]
			key, _, _ := strings.Cut(python.Str(first), ".")
			if m.Value(first) == nil {
				continue
			}
			wanted, ok := m.Value(first).(string)
			if !ok {
				return fmt.Sprintf("Requisite [%s: %s] in state [%s] in SLS [%s] must have a string as the value", kind,
					key, python.Str(chunk.Value("name")), python.Str(chunk.Value("__sls__")))
			}
			if !g.depend(chunk, kind, key, wanted) {
				return fmt.Sprintf("Referenced state does not exist for requisite [%s: (%s: %s)] in state [%s] in "+
					"SLS [%s]", kind, key, wanted, python.Str(chunk.Value("name")), python.Str(chunk.Value("__sls__")))
			}
		}
	}
	return ""
}

// depend connects a chunk with all that a reference means; false when that is nothing.
func (g *graph) depend(chunk *payload.Map, kind, key, wanted string) bool {
	isPattern, found := strings.ContainsAny(wanted, "*?[]"), false
	connectAll := func(nodes []*node) {
		found = found || len(nodes) > 0
		for _, n := range nodes {
			g.link(chunk, n, kind)
		}
	}
	switch {
	case key == "sls" && isPattern:
		found = true
		for _, sls := range g.sls {
			if fnmatch.Match(wanted, sls) {
				connectAll(g.bySLS[sls])
			}
		}
	case key == "sls":
		connectAll(g.bySLS[wanted])
	case isPattern:
		for _, at := range g.keys {
			if at[0] == key && fnmatch.Match(wanted, at[1]) {
				connectAll(g.lookup[at])
			}
		}
	default:
		connectAll(g.lookup[[2]string{key, wanted}])
	}
	return found
}

const testRun = "_|-__prereq_test__"

// link makes a chunk depend on a node. A chunk that is run in test mode for another one's prereq depends on it twice.
func (g *graph) link(chunk *payload.Map, on *node, kind string) {
	n := g.byID[Tag(chunk)]
	if kind == "prereq" {
		g.linkPrereq(n, on)
		return
	}
	if test := g.byID[n.id+testRun]; test != nil && chunk.Bool("__prereq__") {
		connect(on, test, kind)
	}
	connect(on, n, kind)
}

// linkPrereq lets a test run of a node come before n, and the node itself after it.
func (g *graph) linkPrereq(n, on *node) {
	n.chunk.Set("__prerequiring__", true)
	on.chunk.Set("__prereq__", true)
	test := g.byID[on.id+testRun]
	if test == nil {
		test = g.node(on.id+testRun, on.chunk)
		test.test = true
		for _, e := range slices.Clone(on.in) {
			for _, kind := range e.kinds {
				if kind != "prereq" {
					connect(e.to, test, kind)
				}
			}
		}
	}
	connect(test, n, "prereq")
	connect(n, on, "require")
	if own := g.byID[n.id+testRun]; own != nil {
		connect(test, own, "prereq")
	}
}

// cycle describes a circle of requisites.
func (g *graph) cycle() string {
	var words []string
	for _, e := range g.findCycle() {
		kind := e.kind
		if kind == "require" && !e.to.chunk.Has("require") {
			kind = "prereq" // of which the edge is
		}
		words = append(words, fmt.Sprintf("(%s, '%s', %s)", described(e.to), kind, described(e.from)))
	}
	return strings.Join(words, ", ")
}

func described(n *node) string {
	m := payload.M("SLS", n.chunk.Value("__sls__"), "ID", n.chunk.Value("__id__"))
	if !payload.Equal(n.chunk.Value("__id__"), n.chunk.Value("name")) {
		m.Set("NAME", n.chunk.Value("name"))
	}
	return python.Str(m)
}

// step is one edge of a circle.
type step struct {
	from, to *node
	kind     string
}

// findCycle goes down from each node in turn until it comes to one that it is below of.
func (g *graph) findCycle() []step {
	const below, done = 1, 2
	state := map[*node]int{}
	var way []step
	var visit func(n *node) []step
	visit = func(n *node) []step {
		state[n] = below
		for _, e := range n.out {
			for _, kind := range e.kinds {
				way = append(way, step{n, e.to, kind})
				switch state[e.to] {
				case below:
					from := slices.IndexFunc(way, func(s step) bool { return s.from == e.to })
					return way[from:]
				case 0:
					if found := visit(e.to); found != nil {
						return found
					}
				}
				way = way[:len(way)-1]
			}
		}
		state[n] = done
		return nil
	}
	for _, n := range g.nodes {
		if state[n] == 0 {
			if found := visit(n); found != nil {
				return found
			}
		}
	}
	return nil
}
