package yaml

import (
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// maxValues bounds how many values a text may stand for once its aliases are followed. Aliases share one
// value in memory, but whoever walks or packs the result sees every copy.
const maxValues = 1 << 22

// constructor turns nodes into values. Like PyYAML's it goes level by level: the items of a collection are looked at
// when all its neighbours have been, so the outermost of several faults is the one that is told.
type constructor struct {
	dialect Dialect
	shared  map[*node]any     // values of collections, when there are aliases
	flat    map[*node][]*node // items of mappings with their merge keys resolved
	busy    map[*node]bool    // mappings being flattened
	queue   []unfilled
}

// unfilled is a collection whose items are still to come.
type unfilled struct {
	node  *node
	value any
}

func newConstructor(aliases bool) *constructor {
	c := &constructor{flat: map[*node][]*node{}, busy: map[*node]bool{}}
	if aliases {
		c.shared = map[*node]any{}
	}
	return c
}

// document constructs a whole document.
func (c *constructor) document(root *node) (any, error) {
	if c.shared != nil {
		if err := (&extent{known: map[*node]reach{}}).check(root); err != nil {
			return nil, err
		}
	}
	v, err := c.value(root)
	for ; err == nil && len(c.queue) > 0; c.queue = c.queue[1:] {
		err = c.fill(c.queue[0].node, c.queue[0].value)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// value constructs a scalar, or a collection that is filled later.
func (c *constructor) value(n *node) (any, error) {
	if n.kind == scalarNode && !isCollectionTag(n.tag) {
		return c.scalar(n)
	}
	if v, ok := c.shared[n]; ok {
		return v, nil
	}
	var v any
	switch n.tag {
	case tagSet:
		set, err := c.set(n)
		if err != nil {
			return nil, err
		}
		v = set
	case tagMap, tagSeq, tagOmap, tagPairs:
		v = c.room(n)
		c.queue = append(c.queue, unfilled{n, v})
	case tagNull, tagBool, tagInt, tagFloat, tagStr, tagTime, tagBinary, tagUnicode:
		return c.scalarOf(n)
	default:
		return nil, undefined(n)
	}
	if c.shared != nil {
		c.shared[n] = v
	}
	return v, nil
}

// room is what a collection will be put into.
func (c *constructor) room(n *node) any {
	if n.tag == tagMap || n.tag == tagOmap && c.dialect == SLS {
		m := payload.NewMap(len(n.items) / 2)
		if c.dialect == SLS {
			m.AsOrdered()
		}
		return m
	}
	if n.kind == sequenceNode {
		return make([]any, len(n.items))
	}
	return []any(nil)
}

func (c *constructor) fill(n *node, v any) error {
	switch v := v.(type) {
	case *payload.Map:
		return c.mapping(n, v)
	case []any:
		if n.tag == tagSeq {
			return c.sequence(n, v)
		}
		return c.pairs(n, v)
	}
	return nil
}

// scalarOf is a mapping with a scalar's tag: it stands for the value of its key "=".
func (c *constructor) scalarOf(n *node) (any, error) {
	if n.kind == mappingNode {
		for i := 0; i+1 < len(n.items); i += 2 {
			if value := n.items[i+1]; n.items[i].tag == tagValue && value.kind == scalarNode {
				return c.scalar(&node{tag: n.tag, text: value.text, start: value.start})
			}
		}
	}
	return nil, at(n, "expected a scalar node, but found %s", n.kind)
}

func undefined(n *node) error {
	return at(n, "could not determine a constructor for the tag %s", python.Repr(n.tag))
}

func (k nodeKind) String() string {
	return [...]string{scalarNode: "scalar", sequenceNode: "sequence", mappingNode: "mapping"}[k]
}

func (c *constructor) sequence(n *node, out []any) error {
	if n.kind != sequenceNode {
		return at(n, "expected a sequence node, but found %s", n.kind)
	}
	for i, item := range n.items {
		v, err := c.value(item)
		if err != nil {
			return err
		}
		out[i] = v
	}
	return nil
}

func (c *constructor) set(n *node) (payload.Set, error) {
	m := payload.NewMap(len(n.items) / 2)
	if err := c.mapping(n, m); err != nil {
		return nil, err
	}
	return m.Keys(), nil
}

const inMapping = "while constructing a mapping"

func (c *constructor) mapping(n *node, m *payload.Map) error {
	if n.kind != mappingNode {
		return at(n, "expected a mapping node, but found %s", n.kind)
	}
	items, err := c.flatten(n)
	if err != nil {
		return err
	}
	var seen map[any]struct{} // keys that are not text
	for i := 0; i+1 < len(items); i += 2 {
		key, err := c.key(n, items[i])
		if err != nil {
			return err
		}
		value, err := c.value(items[i+1])
		if err != nil {
			return err
		}
		twice := false
		if text, ok := key.(string); ok {
			_, twice = m.Get(text)
		} else {
			if seen == nil {
				seen = map[any]struct{}{}
			}
			_, twice = seen[identity(key)]
			seen[identity(key)] = struct{}{}
		}
		if twice && c.dialect != Plain {
			return within(inMapping, n, items[i], "found conflicting ID '%s'", python.Str(key))
		}
		m.Set(key, value)
	}
	return nil
}

// key constructs the key of an item. A collection cannot be one.
func (c *constructor) key(owner, n *node) (any, error) {
	if n.tag == tagValue {
		return n.text, nil
	}
	if n.kind != scalarNode && !isCollectionTag(n.tag) {
		return c.value(n) // an error
	}
	if isCollectionTag(n.tag) {
		if c.dialect == Plain {
			return nil, within(inMapping, owner, n, "found unhashable key")
		}
		return nil, within(inMapping, owner, n, "found unacceptable key %s", nodeText(n))
	}
	v, err := c.scalar(n)
	if raw, ok := v.([]byte); ok {
		return payload.Bytes(raw), err
	}
	return mapKey(v), err
}

// pairs fills !!omap and !!pairs: a list of [key, value].
func (c *constructor) pairs(n *node, out []any) error {
	context := either(n.tag == tagOmap, "while constructing an ordered map", "while constructing pairs")
	if n.kind != sequenceNode {
		return within(context, n, n, "expected a sequence, but found %s", n.kind)
	}
	for i, item := range n.items {
		if item.kind != mappingNode {
			return within(context, n, item, "expected a mapping of length 1, but found %s", item.kind)
		}
		if len(item.items) != 2 {
			return within(context, n, item, "expected a single mapping item, but found %d items", len(item.items)/2)
		}
		key, err := c.value(item.items[0])
		if err != nil {
			return err
		}
		value, err := c.value(item.items[1])
		if err != nil {
			return err
		}
		out[i] = []any{key, value}
	}
	return nil
}

// scalar constructs a scalar node.
func (c *constructor) scalar(n *node) (any, error) {
	text := n.text
	switch {
	case c.dialect == Plain && strings.HasPrefix(n.tag, tagEncrypted):
		return text, nil
	case n.tag == tagInt && c.dialect != Plain:
		text = decimal(text)
	}
	v, err := typed(n.tag, text)
	switch err := err.(type) {
	case nil:
		return v, nil
	case *valueError:
		if err.located {
			return nil, at(n, "%s", err.text)
		}
		return nil, &Error{Kind: ValueError, Problem: err.text, Line: n.start.line + 1, Column: n.start.column + 1}
	}
	return nil, undefined(n)
}
