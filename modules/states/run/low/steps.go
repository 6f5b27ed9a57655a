package low

import (
	"slices"

	"brine/wire/payload"
)

// Step is a chunk at its place in the order. A chunk that others have a prereq on comes twice: first in test mode.
type Step struct {
	Chunk *payload.Map
	Test  bool   // the test run for another chunk's prereq
	Needs []Need // what it waits for, the test runs of a prereq included
	// Group are the chunks, this one too, that may be carried out together with it (mod_aggregate); nil: none.
	Group []*payload.Map
}

// Need is one chunk that a step waits for, and how: require, watch, prereq, ...
type Need struct {
	Kind  string
	Chunk *payload.Map
}

// maxGroup is how many chunks one group holds at most (aggregate_and_order_chunks).
const maxGroup = 500

// steps are sorted nodes with what they wait for. Whoever waits for a chunk of a group waits for the whole group.
func (g *graph) steps(sorted []*node, aggregates func(*payload.Map) bool) []*Step {
	groups := map[*node][]*node{}
	if aggregates != nil {
		groups = grouped(sorted, aggregates)
	}
	out := make([]*Step, len(sorted))
	for i, n := range sorted {
		s := &Step{Chunk: n.chunk, Test: n.test}
		for _, e := range n.in {
			for _, kind := range e.kinds {
				s.Needs = append(s.Needs, Need{kind, e.to.chunk})
			}
			for _, other := range groups[e.to] {
				if other != e.to && other != n {
					s.Needs = append(s.Needs, Need{e.kinds[0], other.chunk})
				}
			}
		}
		for _, member := range groups[n] {
			s.Group = append(s.Group, member.chunk)
		}
		out[i] = s
	}
	return out
}

// grouped puts nodes of one module together of which none waits for another. Source: aggregate_and_order_chunks.
func grouped(sorted []*node, aggregates func(*payload.Map) bool) map[*node][]*node {
	type group struct{ members []*node }
	byModule := map[string][]*group{}
	for _, n := range sorted {
		if n.test || !aggregates(n.chunk) {
			continue
		}
		module := n.chunk.Str("state")
		at := slices.IndexFunc(byModule[module], func(g *group) bool {
			return len(g.members) < maxGroup && !leadsTo(g.members, n)
		})
		if at < 0 {
			byModule[module] = append(byModule[module], &group{[]*node{n}})
			continue
		}
		byModule[module][at].members = append(byModule[module][at].members, n)
	}
	out := map[*node][]*node{}
	for _, groups := range byModule {
		for _, g := range groups {
			if len(g.members) < 2 {
				continue
			}
			for _, n := range g.members {
				out[n] = g.members
			}
		}
	}
	return out
}

// leadsTo tells whether a node waits for one of others, over however many in between.
func leadsTo(from []*node, to *node) bool {
	seen := map[*node]bool{}
	below := slices.Clone(from)
	for len(below) > 0 {
		n := below[len(below)-1]
		below = below[:len(below)-1]
		for _, e := range n.out {
			if e.to == to {
				return true
			}
			if !seen[e.to] {
				seen[e.to] = true
				below = append(below, e.to)
			}
		}
	}
	return false
}
