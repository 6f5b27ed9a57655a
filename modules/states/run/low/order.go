package low

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"brine/wire/payload"
	"brine/wire/python"
)

// rank is by what nodes of which none waits for the other are sorted.
type rank struct {
	order, own float64 // the order that counts, which what depends on a node can lower, and its own
	label, id  string
}

func (a rank) less(b rank) bool {
	return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.own, b.own), cmp.Compare(a.label, b.label),
		cmp.Compare(a.id, b.id)) < 0
}

// ready are the nodes that wait for nothing, the next one first.
type ready []ranked

type ranked struct {
	*node
	rank rank
}

func (r ready) Len() int           { return len(r) }
func (r ready) Less(i, j int) bool { return r[i].rank.less(r[j].rank) }
func (r ready) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *ready) Push(x any)        { *r = append(*r, x.(ranked)) }
func (r *ready) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}

// sort returns the nodes in their order; false when some wait for each other. limit is the order of a chunk that has
// none.
func (g *graph) sort(limit float64) (sorted []*node, ok bool) {
	waits := map[*node]int{}
	var now ready
	for _, n := range g.nodes {
		for _, e := range n.in {
			waits[n] += len(e.kinds)
		}
		if waits[n] == 0 {
			heap.Push(&now, ranked{n, n.rank(limit)})
		}
	}
	for now.Len() > 0 {
		n := heap.Pop(&now).(ranked).node
		sorted = append(sorted, n)
		for _, e := range n.out {
			if waits[e.to] -= len(e.kinds); waits[e.to] == 0 {
				heap.Push(&now, ranked{e.to, e.to.rank(limit)})
			}
		}
	}
	return sorted, len(sorted) == len(g.nodes)
}

// rank settles the order of a chunk and returns where its node stands.
func (n *node) rank(limit float64) rank {
	chunk := n.chunk
	order := settle(chunk, limit)
	if at, _ := integer(chunk.Value("name_order")); at != 0 {
		order += float64(at) / 10000
		chunk.Set("order", order)
	}
	chunk.Delete("name_order")
	if order < 0 {
		order += limit + 1000000
		chunk.Set("order", number(order))
	}
	own := order
	least, weight := math.Inf(1), -1
	for _, e := range n.out {
		for _, kind := range e.kinds {
			if w := slices.Index(requisiteTypes, kind); weight <= w {
				weight = w
				below := math.Inf(1)
				if e.to.chunk.Has("order") {
					below = settle(e.to.chunk, limit)
				}
				least = min(least, below)
			}
		}
	}
	label := python.Str(chunk.Value("state")) + python.Str(chunk.Value("name")) + python.Str(chunk.Value("fun"))
	return rank{min(order, least), own, label, n.id}
}

// settle is the order of a chunk as a number, which is put into it where a word stood, or nothing.
func settle(chunk *payload.Map, limit float64) float64 {
	v := chunk.Value("order")
	if f, ok := v.(float64); ok {
		return f
	}
	if i, ok := integer(v); ok {
		return float64(i)
	}
	order := limit
	switch v {
	case "last":
		order = limit + 1000000
	case "first":
		order = 0
	}
	chunk.Set("order", number(order))
	return order
}

// number is a whole number as one.
func number(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return f
}
