package slsutil

import (
	"log/slog"
	"strings"

	"brine/modules"
	"brine/modules/text/dicts"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// update is dictupdate.update. Neither argument is changed.
func update(dest, upd any, mergeLists bool) (any, error) {
	d, ok := dest.(*payload.Map)
	u, okUpd := upd.(*payload.Map)
	if !ok || !okUpd {
		return nil, &modules.ArgumentError{Message: "Cannot update using non-dict types in dictupdate.update()"}
	}
	out := dicts.Clone(d).(*payload.Map)
	dicts.Update(out, dicts.Clone(u).(*payload.Map), mergeLists)
	return out, nil
}

func runUpdate(_ *modules.Call, a modules.Args) (any, error) {
	merged, err := update(a.Get("dest"), a.Get("upd"), a.Bool("merge_lists"))
	if err != nil || a.Bool("recursive_update") {
		return merged, err
	}
	out := dicts.Clone(a.Get("dest")).(*payload.Map)
	for k, v := range a.Get("upd").(*payload.Map).All() {
		out.Set(k, v)
	}
	return out, nil
}

// merging are the arguments that the merging functions share.
type merging struct {
	call       *modules.Call
	strategy   string
	mergeLists bool
}

func mergingOf(c *modules.Call, a modules.Args) merging {
	m := merging{call: c, strategy: a.Str("strategy"), mergeLists: a.Bool("merge_lists")}
	if m.strategy == "smart" {
		m.strategy = "recurse"
		renderer := a.Str("renderer")
		if strings.HasPrefix(renderer, "yamlex_") || renderer[strings.LastIndexByte(renderer, '|')+1:] == "yamlex" {
			m.strategy = "aggregate"
		}
	}
	return m
}

func runMerge(c *modules.Call, a modules.Args) (any, error) {
	return mergingOf(c, a).merge(a.Get("obj_a"), a.Get("obj_b"))
}

func runMergeAll(c *modules.Call, a modules.Args) (any, error) {
	m := mergingOf(c, a)
	var items []any
	switch lst := a.Get("lst").(type) {
	case []any:
		items = lst
	case *payload.Map:
		items = lst.Keys()
	case string:
		for _, r := range lst {
			items = append(items, string(r))
		}
	default:
		return nil, &modules.ArgumentError{Message: "'" + pytext.Type(lst) + "' object is not iterable"}
	}
	out := any(payload.NewMap(0))
	for _, item := range items {
		var err error
		if out, err = m.merge(out, item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// merge is dictupdate.merge.
func (m merging) merge(a, b any) (any, error) {
	switch m.strategy {
	case "list":
		return mergeList(a, b)
	case "aggregate":
		return aggregate(a, b, true), nil
	case "overwrite":
		return m.overwrite(a, b)
	case "none":
		return update(a, b, false)
	case "recurse":
		return update(a, b, m.mergeLists)
	}
	m.call.Log(slog.LevelWarn, "Unknown merging strategy '"+m.strategy+"', fallback to recurse")
	return update(a, b, false)
}

// overwrite replaces what both have before it merges, so that nothing is merged within.
func (m merging) overwrite(a, b any) (any, error) {
	upd, ok := b.(*payload.Map)
	dest, okDest := a.(*payload.Map)
	if !ok || !okDest {
		return update(a, b, m.mergeLists)
	}
	out := dicts.Clone(dest).(*payload.Map)
	for k, v := range upd.All() {
		if out.Has(k) {
			out.Set(k, v)
		}
	}
	return update(out, b, m.mergeLists)
}

// mergeList puts the values that both have into lists; what only the second has is left out.
func mergeList(a, b any) (any, error) {
	left, ok := a.(*payload.Map)
	if !ok {
		return nil, modules.Raise("AttributeError", "'%s' object has no attribute 'items'", pytext.Type(a))
	}
	right, ok := b.(*payload.Map)
	if !ok && left.Len() > 0 {
		return nil, &modules.ArgumentError{Message: "argument of type '" + pytext.Type(b) + "' is not iterable"}
	}
	out := payload.NewMap(left.Len())
	for k, v := range left.All() {
		if other, both := right.Get(k); both {
			v = []any{v, other}
		}
		out.Set(k, v)
	}
	return out, nil
}

// aggregate is the merge of yamlex for data without its marks: the outermost maps and lists are joined (outermost true),
// of maps below only what the second has is kept.
func aggregate(a, b any, outermost bool) any {
	left, okLeft := a.(*payload.Map)
	right, okRight := b.(*payload.Map)
	if okLeft && okRight {
		out := payload.NewMap(0)
		if outermost {
			out.Update(left)
		} else {
			out.Update(right)
		}
		for k, v := range right.All() {
			if old, ok := left.Get(k); ok {
				v = aggregate(old, v, false)
			}
			out.Set(k, v)
		}
		return out
	}
	list, okLeft := a.([]any)
	more, okRight := b.([]any)
	if !outermost || !okLeft || !okRight {
		return b
	}
	out := append([]any{}, list...)
	for _, v := range more {
		if !dicts.Contains(list, v) {
			out = append(out, v)
		}
	}
	return out
}

// emptyFor is a value, or an empty map for None where that is wanted.
func emptyFor(v any, convert bool) any {
	if v == nil && convert {
		return payload.NewMap(0)
	}
	return v
}

func defaultsMerge(_ *modules.Call, a modules.Args) (any, error) {
	convert := a.Bool("convert_none")
	dest, src := a.Get("dest"), emptyFor(a.Get("src"), convert)
	if dest == nil && convert {
		if a.Bool("in_place") {
			return nil, &modules.ArgumentError{Message: "Can't perform in-place merge into NoneType"}
		}
		dest = payload.NewMap(0)
	}
	return update(dest, src, a.Bool("merge_lists"))
}

func deepcopy(_ *modules.Call, a modules.Args) (any, error) { return dicts.Clone(a.Get("source")), nil }

func defaultsUpdate(_ *modules.Call, a modules.Args) (any, error) {
	convert := a.Bool("convert_none")
	dest := a.Get("dest")
	if a.Bool("in_place") && dest == nil {
		return nil, &modules.ArgumentError{Message: "Can't perform in-place update into NoneType"}
	}
	nodes, ok := emptyFor(dest, convert).(*payload.Map)
	if !ok {
		return nil, modules.Raise("AttributeError", "'%s' object has no attribute 'items'", pytext.Type(dest))
	}
	defaults := emptyFor(a.Get("defaults"), convert)
	out := payload.NewMap(nodes.Len())
	for name, node := range nodes.All() {
		base := defaults
		if base == nil {
			return nil, &modules.ArgumentError{Message: "Cannot update using non-dict types in dictupdate.update()"}
		}
		merged, err := update(base, emptyFor(node, convert), a.Bool("merge_lists"))
		if err != nil {
			return nil, err
		}
		out.Set(name, merged)
	}
	return out, nil
}
