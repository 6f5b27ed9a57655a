package yaml

import (
	"reflect"
	"strconv"
	"strings"

	"brine/wire/payload"
)

// Tags of YAMLEX.
const (
	tagAggregate = "!aggregate"
	tagReset     = "!reset"
)

// LoadYamlex parses a text like salt.serializers.yamlex: values under duplicate keys are merged, lists and maps tagged
// !aggregate are joined, and a key tagged !reset discards earlier values. As in Salt, a duplicate list without a tag
// becomes empty. Dates stay text, unlike in Salt. Every error is an *Error.
func LoadYamlex(b []byte) (any, error) {
	if err := readable(b); err != nil {
		return nil, err
	}
	root, aliases, fault, _ := parse(strings.TrimPrefix(string(b), byteOrderMark), nil)
	if fault != nil {
		return nil, fault
	}
	if root == nil {
		return nil, nil
	}
	if aliases {
		if err := (&extent{known: map[*node]reach{}}).check(root); err != nil {
			return nil, err
		}
	}
	x := &yamlex{constructor: newConstructor(aliases)}
	x.dialect = Plain
	v, err := x.value(root)
	if err != nil {
		return nil, err
	}
	return unmarked(v), nil
}

// yamlex makes values in which maps and lists record whether they are tagged.
type yamlex struct {
	*constructor
	deep bool // inside a tagged value
}

// exMap and exList are values under construction; marked ones are joined with other marked ones.
type (
	exMap struct {
		*payload.Map
		marked bool
	}
	exList struct {
		items  []any
		marked bool
		late   bool // Salt fills it when the maps around it are made: earlier copies of it are empty
	}
)

// aggregated is the value of a node tagged !aggregate.
func (x *yamlex) aggregated(n *node) (any, error) {
	v, err := x.untagged(n)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return exList{marked: true}, nil
	case exMap:
		return exMap{v.Map, true}, nil
	case exList:
		return exList{items: v.items, marked: true}, nil
	}
	return exList{items: []any{v}, marked: true}, nil
}

// untagged is the value of a node without its tag.
func (x *yamlex) untagged(n *node) (any, error) {
	plain := *n
	switch n.kind {
	case scalarNode:
		plain.tag = resolve(n.text)
	case sequenceNode:
		plain.tag = tagSeq
	case mappingNode:
		plain.tag = tagMap
	}
	defer func(deep bool) { x.deep = deep }(x.deep)
	x.deep = x.deep || n.kind != scalarNode
	return x.value(&plain)
}

func (x *yamlex) value(n *node) (any, error) {
	switch {
	case n.tag == tagAggregate:
		return x.aggregated(n)
	case n.tag == tagReset:
		return x.untagged(n)
	case n.kind == mappingNode && (n.tag == tagMap || n.tag == tagOmap):
		return x.mapping(n)
	case n.kind == sequenceNode && n.tag == tagSeq:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			v, err := x.value(item)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return exList{items: out, late: !x.deep}, nil
	case n.tag == tagOmap:
		return nil, at(n, "expected a mapping node, but found %s", n.kind)
	case n.kind == scalarNode && n.tag == tagInt:
		return x.whole(n)
	}
	c := newConstructor(false)
	c.dialect = Plain
	return c.document(n)
}

// whole is an integer, in base 10 only; leading zeros have no meaning.
func (x *yamlex) whole(n *node) (any, error) {
	text := n.text
	if strings.HasPrefix(text, "0") && !strings.HasPrefix(text, "0b") && !strings.HasPrefix(text, "0x") {
		if text = strings.TrimLeft(text, "0"); text == "" {
			text = "0"
		}
	}
	if i, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64); err == nil && !strings.HasSuffix(text,
		"_") && !strings.Contains(text, "__") {
		return i, nil
	}
	if big, ok := bigInt(text, 10); ok {
		return narrow(big), nil
	}
	return nil, &Error{Kind: ValueError, Problem: notWhole(10, text).Error(), Line: n.start.line + 1,
		Column: n.start.column + 1}
}

func (x *yamlex) mapping(n *node) (any, error) {
	items, err := x.flatten(n)
	if err != nil {
		return nil, err
	}
	out := exMap{Map: payload.NewMap(len(items) / 2)}
	for i := 0; i+1 < len(items); i += 2 {
		name, item := *items[i], *items[i+1]
		reset := name.tag == tagReset
		if name.tag == tagAggregate { // the tag concerns the value
			item.tag = tagAggregate
		}
		if name.kind == scalarNode && (reset || name.tag == tagAggregate) {
			name.tag = resolve(name.text)
		}
		key, err := x.name(n, &name)
		if err != nil {
			return nil, err
		}
		v, err := x.value(&item)
		if err != nil {
			return nil, err
		}
		if old, twice := out.Get(key); twice && !reset {
			v = joined(old, v)
		}
		out.Set(key, v)
	}
	return out, nil
}

// name returns the key of an item.
func (x *yamlex) name(owner, n *node) (any, error) {
	if n.kind == scalarNode && n.tag == tagInt {
		return x.whole(n)
	}
	if n.kind != scalarNode {
		return nil, within(inMapping, owner, n, "found unacceptable key %s", nodeText(n))
	}
	return x.key(owner, n)
}

// joined combines a and b (salt/utils/aggregation.py, aggregate).
func joined(a, b any) any {
	left, okLeft := a.(exMap)
	right, okRight := b.(exMap)
	if okLeft && okRight {
		out := exMap{right.Map.Clone(), right.marked}
		if left.marked && right.marked {
			out = exMap{left.Map.Clone(), true}
		}
		for key, v := range right.All() {
			if old, ok := left.Get(key); ok {
				v = joined(old, v)
			}
			out.Set(key, v)
		}
		return out
	}
	list, okLeft := a.(exList)
	more, okRight := b.(exList)
	if !okLeft || !okRight || !list.marked || !more.marked {
		if more.late {
			return exList{}
		}
		return b
	}
	out := append([]any{}, list.items...)
	for _, v := range more.items {
		there := false
		for _, old := range list.items {
			there = there || reflect.DeepEqual(unmarked(old), unmarked(v))
		}
		if !there {
			out = append(out, v)
		}
	}
	return exList{items: out, marked: true}
}

// unmarked is a value with plain maps and lists.
func unmarked(v any) any {
	switch v := v.(type) {
	case exMap:
		out := payload.NewMap(v.Len())
		for key, e := range v.All() {
			out.Set(key, unmarked(e))
		}
		return out
	case exList:
		out := make([]any, len(v.items))
		for i, e := range v.items {
			out[i] = unmarked(e)
		}
		return out
	}
	return v
}
