package yaml

// flatten lists the items of a mapping with its merge keys ("<<") resolved. Merged items come first. An item whose key
// text is also in the mapping itself is left out.
func (c *constructor) flatten(n *node) ([]*node, error) {
	if !hasMerge(n) {
		return n.items, nil
	}
	if items, ok := c.flat[n]; ok {
		return items, nil
	}
	if c.busy[n] {
		return nil, errDeep(n)
	}
	c.busy[n] = true
	defer delete(c.busy, n)
	var own, merged []*node
	for i := 0; i+1 < len(n.items); i += 2 {
		key, value := n.items[i], n.items[i+1]
		if key.tag != tagMerge {
			own = append(own, key, value)
			continue
		}
		more, err := c.mergeItems(n, value)
		if err != nil {
			return nil, err
		}
		merged = append(merged, more...)
	}
	if c.dialect == Plain {
		own = append(merged, own...)
		merged = nil
	}
	items := withoutOwn(merged, own)
	c.flat[n] = items
	return items, nil
}

func hasMerge(n *node) bool {
	for i := 0; i+1 < len(n.items); i += 2 {
		if n.items[i].tag == tagMerge {
			return true
		}
	}
	return false
}

// withoutOwn puts the merged items before own, without those that own names.
func withoutOwn(merged, own []*node) []*node {
	if len(merged) == 0 {
		return own
	}
	names := make(map[string]bool, len(own)/2)
	for i := 0; i < len(own); i += 2 {
		if own[i].kind == scalarNode {
			names[own[i].text] = true
		}
	}
	var items []*node
	for i := 0; i < len(merged); i += 2 {
		if key := merged[i]; key.kind != scalarNode || !names[key.text] {
			items = append(items, key, merged[i+1])
		}
	}
	return append(items, own...)
}

// mergeItems lists the items in the value of a merge key: those of one mapping, or of a list of mappings, the last of
// the list first.
func (c *constructor) mergeItems(owner, value *node) ([]*node, error) {
	switch value.kind {
	case mappingNode:
		return c.flatten(value)
	case sequenceNode:
		return c.mergeList(owner, value)
	}
	return nil, within(inMapping, owner, value, "expected a mapping or list of mappings for merging, but found %s",
		value.kind)
}

func (c *constructor) mergeList(owner, list *node) ([]*node, error) {
	parts, total := make([][]*node, len(list.items)), 0
	for i, item := range list.items {
		if item.kind != mappingNode {
			return nil, within(inMapping, owner, item, "expected a mapping for merging, but found %s", item.kind)
		}
		part, err := c.flatten(item)
		if err != nil {
			return nil, err
		}
		if total += len(part); total > maxValues {
			return nil, at(owner, "merge keys bring more than %d items", maxValues)
		}
		parts[i] = part
	}
	items := make([]*node, 0, total)
	for i := len(parts) - 1; i >= 0; i-- {
		items = append(items, parts[i]...)
	}
	return items, nil
}

// extent calculates how many values a text with aliases represents, before any of them is made.
type extent struct{ known map[*node]reach }

// reach is the number of values in a collection, including itself, and its depth. values is 0 while the collection is
// being calculated.
type reach struct{ values, depth int }

func (x *extent) check(n *node) error {
	r, err := x.of(n)
	if err == nil && r.depth > maxDepth {
		err = errDeep(n)
	}
	return err
}

func (x *extent) of(n *node) (reach, error) {
	if n.kind == scalarNode {
		return reach{1, 0}, nil
	}
	if r, ok := x.known[n]; ok {
		if r.values == 0 {
			return r, errDeep(n)
		}
		return r, nil
	}
	x.known[n] = reach{}
	sum := reach{1, 1}
	for _, item := range n.items {
		r, err := x.of(item)
		if err != nil {
			return r, err
		}
		sum = reach{min(sum.values+r.values, maxValues+1), max(sum.depth, r.depth+1)}
	}
	if sum.values > maxValues {
		return sum, at(n, "aliases expand to more than %d values", maxValues)
	}
	x.known[n] = sum
	return sum, nil
}
