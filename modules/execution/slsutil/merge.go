package slsutil

import (
	"log/slog"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// target is a map that a function of Python changes where it stands, and returns: the template's own, else a copy, since what
// a job was given stays as it is.
func target(c *loader.Call, v any) any {
	if c.Nested() {
		return v
	}
	return dicts.Clone(v)
}

// update is dictupdate.update; it changes dest.
func update(dest, upd any, mergeLists bool) (any, error) {
	d, ok := dest.(*payload.Map)
	u, okUpd := upd.(*payload.Map)
	if !ok || !okUpd {
		return nil, &loader.ArgumentError{Message: "Cannot update using non-dict types in dictupdate.update()"}
	}
	dicts.Update(d, dicts.Clone(u).(*payload.Map), mergeLists)
	return d, nil
}

func runUpdate(c *loader.Call, a loader.Args) (any, error) {
	dest := target(c, a.Get("dest"))
	upd, ok := a.Get("upd").(*payload.Map)
	if d, isMap := dest.(*payload.Map); isMap && ok && !a.Bool("recursive_update") {
		d.Update(dicts.Clone(upd).(*payload.Map))
		return d, nil
	}
	return update(dest, a.Get("upd"), a.Bool("merge_lists"))
}

// mergingOf reads the arguments that the merging functions share.
func mergingOf(c *loader.Call, a loader.Args) dicts.Merging {
	return dicts.Merging{Strategy: a.Str("strategy"), Renderer: a.Str("renderer"), Lists: a.Bool("merge_lists"),
		Warn: func(text string) { c.Log(slog.LevelWarn, text) }}
}

func runMerge(c *loader.Call, a loader.Args) (any, error) {
	return mergingOf(c, a).Merge(dicts.Clone(a.Get("obj_a")), dicts.Clone(a.Get("obj_b")))
}

func runMergeAll(c *loader.Call, a loader.Args) (any, error) {
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
		return nil, &loader.ArgumentError{Message: "'" + pytext.Type(lst) + "' object is not iterable"}
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

func defaultsMerge(c *loader.Call, a loader.Args) (any, error) {
	convert := a.Bool("convert_none")
	dest, src := a.Get("dest"), emptyFor(a.Get("src"), convert)
	if dest == nil && convert {
		if a.Bool("in_place") {
			return nil, &loader.ArgumentError{Message: "Can't perform in-place merge into NoneType"}
		}
		dest = payload.NewMap(0)
	}
	if a.Bool("in_place") {
		dest = target(c, dest)
	} else {
		dest = dicts.Clone(dest)
	}
	return update(dest, src, a.Bool("merge_lists"))
}

func deepcopy(_ *loader.Call, a loader.Args) (any, error) { return dicts.Clone(a.Get("source")), nil }

func defaultsUpdate(c *loader.Call, a loader.Args) (any, error) {
	convert := a.Bool("convert_none")
	dest := a.Get("dest")
	if a.Bool("in_place") && dest == nil {
		return nil, &loader.ArgumentError{Message: "Can't perform in-place update into NoneType"}
	}
	nodes, ok := emptyFor(dest, convert).(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'items'", pytext.Type(dest))
	}
	if a.Bool("in_place") {
		nodes = target(c, nodes).(*payload.Map)
	} else {
		nodes = dicts.Clone(nodes).(*payload.Map)
	}
	defaults := emptyFor(a.Get("defaults"), convert)
	for _, name := range nodes.Keys() {
		merged, err := update(dicts.Clone(defaults), emptyFor(nodes.Value(name), convert), a.Bool("merge_lists"))
		if err != nil {
			return nil, err
		}
		nodes.Set(name, merged)
	}
	return nodes, nil
}
