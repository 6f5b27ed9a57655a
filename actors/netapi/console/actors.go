package console

import (
	"context"
	"net/http"
	"strings"

	"brine/wire/control"
	"brine/wire/payload"
)

// showActors streams the table actors. Every actor of the master, or of a minion, is a row.
func (c *console) showActors(ctx context.Context, q request, o *output) error {
	d, of := newDiffer("actors"), q.query("of")
	every := masterEvery
	if of != "" {
		every = minionEvery // each look is a job
	}
	return c.repeat(ctx, q, o, every, func(ctx context.Context) error {
		root, err := c.tree(ctx, q.who, of, true)
		if err != nil {
			return o.rows(d, nil, err)
		}
		now := rows{}
		flatten(now, root, 0)
		return o.rows(d, now, nil)
	})
}

// tree asks the master for its actors, or a minion for its actors with a job. A brief tree has no stacks.
func (c *console) tree(ctx context.Context, who Session, of string, brief bool) (*payload.Map, error) {
	if of == "" {
		return ask(ctx, c, control.GetTree{})
	}
	if !payload.ValidID(of) {
		return nil, &problem{http.StatusNotFound, "there is no such minion"}
	}
	got, err := c.call(ctx, who, payload.M("client", "local", "tgt", []any{of}, "tgt_type", "list", "fun",
		"brine.actors", "kwarg", payload.M("brief", brief), "timeout", int64(askWithin.Seconds())))
	if err != nil {
		return nil, err
	}
	m, ok := got.(*payload.Map)
	if !ok || !m.Has(of) {
		return nil, &problem{http.StatusBadGateway, of + " did not answer."}
	}
	tree := m.Map(of)
	if tree == nil || !tree.Has("children") {
		return nil, &problem{http.StatusBadGateway, of + " is no minion of brine, or does not answer: it has no " +
			"actors to show."}
	}
	return tree, nil
}

// flatten makes rows of an actor and its descendants.
func flatten(into rows, node *payload.Map, depth int) {
	if len(into) >= maxRows || depth > 64 {
		return
	}
	handling := node.Map("handling")
	row := Node{Path: str(node, "path"), Name: str(node, "name"), Order: len(into), Depth: depth,
		State: str(node, "state"), Since: str(node, "since"), Restarts: whole(node, "restarts"),
		Recent: whole(node, "restarts_hour"), Mailbox: whole(node, "mailbox"), OldestMS: whole(node, "oldest_ms"),
		Received: whole(node, "received"), Lost: whole(node, "lost"), Rate: float(node, "rate"),
		Busy: float(node, "busy"), InHand: str(node, "in_hand"), Note: str(node, "note"),
		P50US: whole(handling, "p50_us"), P99US: whole(handling, "p99_us"), Inc: whole(node, "incarnation"),
		Abandoned: whole(node, "stuck")}
	if death := node.Map("last_death"); death != nil {
		row.DiedAt, row.DiedOf = str(death, "time"), str(death, "reason")
	}
	into[row.Path] = row
	for _, v := range node.List("children") {
		if child, ok := v.(*payload.Map); ok {
			flatten(into, child, depth+1)
		}
	}
}

// actor answers with all data about one actor. It omits stacks for users who may not see them.
func (c *console) actor(ctx context.Context, q request) (any, error) {
	root, err := c.tree(ctx, q.who, q.query("of"), false)
	if err != nil {
		return nil, err
	}
	node := find(root, q.query("path"))
	if node == nil {
		return nil, &problem{http.StatusNotFound, "there is no such actor any more"}
	}
	one := node.Clone()
	one.Delete("children")
	if !may(q.who.Rules, rightStacks) {
		withoutStacks(one)
	}
	return Actor{asJSON(one)}, nil
}

// find finds an actor by its path.
func find(node *payload.Map, path string) *payload.Map {
	if node.Str("path") == path {
		return node
	}
	for _, v := range node.List("children") {
		child, ok := v.(*payload.Map)
		if !ok || !strings.HasPrefix(path, child.Str("path")) {
			continue
		}
		if found := find(child, path); found != nil {
			return found
		}
	}
	return nil
}

// withoutStacks removes the stacks from the deaths and slow handlers of an actor.
func withoutStacks(node *payload.Map) {
	for _, key := range []string{"last_death", "last_slow"} {
		if m := node.Map(key); m != nil {
			m.Set("stack", "")
		}
	}
	for _, v := range node.List("deaths") {
		if m, ok := v.(*payload.Map); ok {
			m.Set("stack", "")
		}
	}
}

// stack answers with the activity of the goroutines of the master's actor.
func (c *console) stack(ctx context.Context, q request) (any, error) {
	got, err := ask(ctx, c, control.GetStack{Name: q.query("path")})
	if err != nil {
		return nil, err
	}
	return Stack{got.Path, got.Stack}, nil
}
