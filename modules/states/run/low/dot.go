package low

import (
	"fmt"
	"strings"

	"brine/wire/payload"
)

// Dot describes what waits for what in the language of Graphviz. Errors of the requisites are not told. Source:
// DependencyGraph.to_dot.
func Dot(data *payload.Map, opt Options) string {
	g, chunks := opt.graph(data)
	g.order(chunks, opt.Watches)
	lines := []string{"digraph G {"}
	for _, n := range g.nodes {
		label := fmt.Sprintf(`%v.%v\n%v`, n.chunk.Value("state"), n.chunk.Value("fun"), n.chunk.Value("__id__"))
		if name := n.chunk.Value("name"); !payload.Equal(name, n.chunk.Value("__id__")) {
			label += fmt.Sprintf(`\n(%v)`, name)
		}
		lines = append(lines, fmt.Sprintf(`  "%s" [label="%s"];`, n.id, label))
	}
	for _, n := range g.nodes {
		for _, e := range n.out {
			for _, kind := range e.kinds {
				lines = append(lines, fmt.Sprintf(`  "%s" -> "%s" [label="%s"];`, n.id, e.to.id, kind))
			}
		}
	}
	return strings.Join(append(lines, "}"), "\n")
}
