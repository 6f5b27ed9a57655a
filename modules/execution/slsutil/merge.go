package slsutil

import (
	"log/slog"

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

// mergingOf reads the arguments that the merging functions share.
func mergingOf(c *modules.Call, a modules.Args) dicts.Merging {
	return dicts.Merging{Strategy: a.Str("strategy"), Renderer: a.Str("renderer"), Lists: a.Bool("merge_lists"),
		Warn: func(text string) { c.Log(slog.LevelWarn, text) }}
}

func runMerge(c *modules.Call, a modules.Args) (any, error) {
	return mergingOf(c, a).Merge(dicts.Clone(a.Get("obj_a")), dicts.Clone(a.Get("obj_b")))
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
		if out, err = m.Merge(out, dicts.Clone(item)); err != nil {
			return nil, err
		}
	}
	return out, nil
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
