package yaml

import (
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"brine/wire/payload"
)

// maxValues bounds how many values a text may stand for once its aliases are followed. Aliases share one
// value in memory, but whoever walks or packs the result sees every copy.
const maxValues = 1 << 22

// constructor turns nodes into values. Each node is constructed once: aliases share.
type constructor struct {
	lone map[position]bool       // where the parser dropped a lone "!"
	done map[*yaml.Node]built    // finished collections
	open map[*yaml.Node]struct{} // collections being built, to find loops
	flat map[*yaml.Node][]pair   // mappings with their merge keys resolved
	busy map[*yaml.Node]struct{} // mappings being flattened
}

// built is a finished collection and the number of values in it, itself included.
type built struct {
	value any
	size  int
}

// pair is one item of a mapping.
type pair struct{ key, value *yaml.Node }

func newConstructor(src []byte) *constructor {
	return &constructor{
		lone: loneTags(src),
		done: map[*yaml.Node]built{}, open: map[*yaml.Node]struct{}{},
		flat: map[*yaml.Node][]pair{}, busy: map[*yaml.Node]struct{}{},
	}
}

func (c *constructor) construct(n *yaml.Node) (any, error) {
	b, err := c.build(n)
	return b.value, err
}

// build constructs one node and counts what it stands for.
func (c *constructor) build(n *yaml.Node) (built, error) {
	n = follow(n)
	if n.Kind == yaml.ScalarNode {
		v, err := c.scalar(n)
		return built{v, 1}, err
	}
	if b, ok := c.done[n]; ok {
		return b, nil
	}
	if _, ok := c.open[n]; ok {
		return built{}, at(n, "found unconstructable recursive node")
	}
	c.open[n] = struct{}{}
	b, err := c.collection(n)
	if err == nil && b.size > maxValues {
		err = at(n, "aliases expand to more than %d values", maxValues)
	}
	if err != nil {
		return built{}, err
	}
	delete(c.open, n)
	c.done[n] = b
	return b, nil
}

// follow replaces an alias by what it names.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func (c *constructor) collection(n *yaml.Node) (built, error) {
	switch tag := n.Tag; tag {
	case "!!map":
		return c.mapping(n)
	case "!!seq":
		return c.sequence(n)
	case "!!set":
		b, err := c.mapping(n)
		if err != nil {
			return built{}, err
		}
		return built{b.value.(*payload.Map).Keys(), b.size}, nil
	case "!!omap", "!!pairs":
		return c.pairList(n)
	case tagNull, tagBool, tagInt, tagFloat, tagStr, tagTime, "!!binary", "!!python/unicode":
		return built{}, at(n, "expected a scalar node, but found %s", kind(n))
	default:
		return built{}, undefined(n, tag)
	}
}

func undefined(n *yaml.Node, tag string) error {
	return at(n, "could not determine a constructor for the tag '%s'", longTag(tag))
}

func longTag(tag string) string {
	if rest, ok := strings.CutPrefix(tag, "!!"); ok {
		return "tag:yaml.org,2002:" + rest
	}
	return tag
}

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "mapping"
	case yaml.SequenceNode:
		return "sequence"
	}
	return "scalar"
}

func (c *constructor) sequence(n *yaml.Node) (built, error) {
	if n.Kind != yaml.SequenceNode {
		return built{}, at(n, "expected a sequence node, but found %s", kind(n))
	}
	out, size := make([]any, len(n.Content)), 1
	for i, child := range n.Content {
		b, err := c.build(child)
		if err != nil {
			return built{}, err
		}
		out[i] = b.value
		size = grow(size, b.size)
	}
	return built{out, size}, nil
}

// grow adds sizes without overflow.
func grow(a, b int) int { return min(a+b, maxValues+1) }

func (c *constructor) mapping(n *yaml.Node) (built, error) {
	if n.Kind != yaml.MappingNode {
		return built{}, at(n, "expected a mapping node, but found %s", kind(n))
	}
	items, err := c.flatten(n)
	if err != nil {
		return built{}, err
	}
	m, size := payload.NewMap(len(items)), 1
	seen := make(map[any]struct{}, len(items))
	for _, item := range items {
		key, err := c.key(item.key)
		if err != nil {
			return built{}, err
		}
		b, err := c.build(item.value)
		if err != nil {
			return built{}, err
		}
		if _, ok := seen[identity(key)]; ok {
			return built{}, at(item.key, "found conflicting ID '%s'", keyText(key))
		}
		seen[identity(key)] = struct{}{}
		m.Set(key, b.value)
		size = grow(size, b.size)
	}
	return built{m, size}, nil
}

// key constructs the key of an item. A collection cannot be one.
func (c *constructor) key(n *yaml.Node) (any, error) {
	n = follow(n)
	if n.Kind != yaml.ScalarNode {
		if _, err := c.build(n); err != nil {
			return nil, err
		}
		return nil, at(n, "found unacceptable key %s", kind(n))
	}
	if n.Style&yaml.TaggedStyle == 0 && c.tag(n) == tagValue {
		return n.Value, nil
	}
	v, err := c.scalar(n)
	if raw, ok := v.([]byte); ok {
		return payload.Bytes(raw), err
	}
	return mapKey(v), err
}

// pairList builds !!omap and !!pairs: a list of [key, value].
func (c *constructor) pairList(n *yaml.Node) (built, error) {
	if n.Kind != yaml.SequenceNode {
		return built{}, at(n, "expected a sequence, but found %s", kind(n))
	}
	out, size := make([]any, len(n.Content)), 1
	for i, child := range n.Content {
		child = follow(child)
		if child.Kind != yaml.MappingNode {
			return built{}, at(child, "expected a mapping of length 1, but found %s", kind(child))
		}
		if len(child.Content) != 2 {
			return built{}, at(child, "expected a single mapping item, but found %d items", len(child.Content)/2)
		}
		k, err := c.build(child.Content[0])
		if err != nil {
			return built{}, err
		}
		v, err := c.build(child.Content[1])
		if err != nil {
			return built{}, err
		}
		out[i] = []any{k.value, v.value}
		size = grow(size, grow(k.size, v.size))
	}
	return built{out, size}, nil
}

// flatten lists the items of a mapping with its merge keys ("<<") resolved. Merged items come first; one whose
// key text stands in the mapping itself is left out.
func (c *constructor) flatten(n *yaml.Node) ([]pair, error) {
	if items, ok := c.flat[n]; ok {
		return items, nil
	}
	if _, ok := c.busy[n]; ok {
		return nil, at(n, "found unconstructable recursive node")
	}
	c.busy[n] = struct{}{}
	defer delete(c.busy, n)
	var own, merged []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		item := pair{n.Content[i], n.Content[i+1]}
		if key := follow(item.key); key.Kind != yaml.ScalarNode || c.tag(key) != tagMerge {
			own = append(own, item)
			continue
		}
		more, err := c.mergeItems(n, follow(item.value))
		if err != nil {
			return nil, err
		}
		merged = append(merged, more...)
	}
	items := withoutOwn(merged, own)
	c.flat[n] = items
	return items, nil
}

// withoutOwn puts merged items that own does not name before own.
func withoutOwn(merged, own []pair) []pair {
	if len(merged) == 0 {
		return own
	}
	names := make(map[string]bool, len(own))
	for _, item := range own {
		if key := follow(item.key); key.Kind == yaml.ScalarNode {
			names[key.Value] = true
		}
	}
	var items []pair
	for _, item := range merged {
		if key := follow(item.key); key.Kind != yaml.ScalarNode || !names[key.Value] {
			items = append(items, item)
		}
	}
	return append(items, own...)
}

// mergeItems lists what the value of a merge key brings: the items of one mapping, or of a list of mappings,
// the last of the list first.
func (c *constructor) mergeItems(owner, value *yaml.Node) ([]pair, error) {
	switch value.Kind {
	case yaml.MappingNode:
		return c.flatten(value)
	case yaml.SequenceNode:
		var items []pair
		for i := len(value.Content) - 1; i >= 0; i-- {
			sub := follow(value.Content[i])
			if sub.Kind != yaml.MappingNode {
				return nil, at(sub, "expected a mapping for merging, but found %s", kind(sub))
			}
			more, err := c.flatten(sub)
			if err != nil {
				return nil, err
			}
			items = append(items, more...)
			if len(items) > maxValues {
				return nil, at(owner, "merge keys bring more than %d items", maxValues)
			}
		}
		return items, nil
	}
	return nil, at(value, "expected a mapping or list of mappings for merging, but found %s", kind(value))
}

// pairs is flatten for a mapping that was constructed before.
func (c *constructor) pairs(n *yaml.Node) []pair {
	items, err := c.flatten(n)
	if err != nil {
		return nil
	}
	return items
}

// tag tells the tag of a scalar node: the explicit one, else what a plain text resolves to. The lone tag "!"
// makes the parser take a quoted text for a plain one, and nothing at all for an empty text.
func (c *constructor) tag(n *yaml.Node) string {
	const notPlain = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch lone := c.lone[position{n.Line, n.Column}]; {
	case n.Style&yaml.TaggedStyle != 0:
		return n.Tag
	case lone && n.Style&notPlain == 0 && n.Value == "":
		return tagStr
	case !lone && n.Style&notPlain != 0:
		return tagStr
	}
	return resolve(n.Value)
}

// scalar constructs a scalar node.
func (c *constructor) scalar(n *yaml.Node) (any, error) {
	tag := c.tag(n)
	v, err := typed(tag, n.Value)
	if err == errUndefined {
		return nil, undefined(n, tag)
	}
	if err != nil {
		return nil, at(n, "%v", err)
	}
	return v, nil
}
