package match

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// elseKey is the last row of the table of match.ifelse; like each of them it is a target, too.
const (
	elseKey = "SALT_IFELSE_FUNCTION_DEFAULT"
	noneKey = "SALT_IFELSE_MATCH_NOTHING"
)

// matcher chooses one of the kinds. Like Salt's it takes minion_id for the second argument, whatever that means there.
type matcher struct {
	Kind any `arg:"tgt_type=compound"`
	ID   any `arg:"minion_id=None"`
}

func (m matcher) of(c *loader.Call) (func(tgt any) (bool, error), error) {
	kind, id := loader.Text(m.Kind), m.ID
	how, ok := kinds[kind]
	if !ok {
		return nil, loader.Raise("KeyError", "%s", python.Repr(m.Kind))
	}
	return func(tgt any) (bool, error) {
		switch {
		case !python.Truth(id) && how.second == "delimiter":
			return means(c, kind, tgt, ":"), nil
		case !python.Truth(id):
			return means(c, kind, tgt, nil), nil
		case how.second == "":
			return false, loader.Raise("TypeError", "%s() takes 1 positional argument but 2 were given", kind)
		}
		return means(c, kind, tgt, id), nil
	}, nil
}

// merging says what is put over the row that was found.
type merging struct {
	Merge any  `arg:"merge=None"`
	Lists bool `arg:"merge_lists=False"`
}

type filtered struct {
	Table any `arg:"lookup"`
	matcher
	merging
	Default any `arg:"default=default"`
}

func filterBy(c *loader.Call, a filtered) (any, error) {
	table, ok := a.Table.(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'get'", python.Type(a.Table))
	}
	return pick(c, table, a.matcher, a.merging, a.Default)
}

// pick is the first row of the table whose key means this minion.
func pick(c *loader.Call, table *payload.Map, by matcher, with merging, otherwise any) (any, error) {
	hits, err := by.of(c)
	if err != nil {
		return nil, err
	}
	for key, row := range table.All() {
		if hit, err := hits(key); err != nil {
			return nil, err
		} else if hit {
			return with.over(row)
		}
	}
	value, _ := table.Get(otherwise)
	return value, nil
}

func (m merging) over(row any) (any, error) {
	if !python.Truth(m.Merge) {
		return row, nil
	}
	merge, ok := m.Merge.(*payload.Map)
	if !ok {
		return nil, loader.Raise("salt.exceptions.SaltException", "filter_by merge argument must be a dictionary.")
	}
	if row == nil {
		return merge, nil
	}
	into, ok := row.(*payload.Map)
	if !ok {
		return nil, loader.Raise("TypeError", "Cannot update using non-dict types in dictupdate.update()")
	}
	dicts.Update(into, dicts.Clone(merge).(*payload.Map), m.Lists)
	return into, nil
}

type searched struct {
	Table any `arg:"lookup"`
	matcher
}

func searchBy(c *loader.Call, a searched) (any, error) {
	table, ok := a.Table.(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'items'", python.Type(a.Table))
	}
	hits, err := a.of(c)
	if err != nil {
		return nil, err
	}
	var found []any
	for key, row := range table.All() {
		targets, ok := row.([]any)
		if text, isText := row.(string); isText { // Python goes through its letters
			targets, ok = letters(text), true
		}
		if m, isMap := row.(*payload.Map); isMap {
			for k := range m.All() {
				targets = append(targets, k)
			}
			ok = true
		}
		if !ok {
			return nil, loader.Raise("TypeError", "'%s' object is not iterable", python.Type(row))
		}
		for _, tgt := range targets {
			if hit, err := hits(tgt); err != nil {
				return nil, err
			} else if hit {
				found = append(found, key)
			}
		}
	}
	if found == nil {
		return nil, nil
	}
	return found, nil
}

func letters(text string) (out []any) {
	for _, s := range strings.Split(text, "") {
		out = append(out, s)
	}
	return out
}

type pairs struct {
	Given []any `arg:"*args"`
	matcher
	merging
}

func ifElse(c *loader.Call, a pairs) (any, error) {
	n := len(a.Given)
	switch {
	case n%2 == 0:
		return nil, loader.Raise("salt.exceptions.SaltException", "The ifelse function must have an odd number of "+
			"arguments!")
	case n == 1:
		return a.Given[0], nil
	}
	table := payload.NewMap(n/2 + 1)
	for i := 0; i < n-1; i += 2 {
		key := a.Given[i]
		switch key := key.(type) {
		case []any, *payload.Map:
			return nil, loader.Raise("TypeError", "unhashable type: '%s'", python.Type(key))
		}
		switch key {
		case true:
			key = "*"
		case false:
			key = noneKey
		}
		table.Set(key, a.Given[i+1])
	}
	return pick(c, table.Set(elseKey, a.Given[n-1]), a.matcher, a.merging, elseKey)
}
