package slsutil

import (
	"log/slog"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// Target is a map that a function of Python changes where it stands, and returns: the template's own, else a copy,
// since what a job was given stays as it is.
func Target(c *loader.Call, v any) any {
	if c.Nested() {
		return v
	}
	return dicts.Clone(v)
}

// Update is dictupdate.update; it changes dest.
func Update(dest, upd any, mergeLists bool) (any, error) {
	d, ok := dest.(*payload.Map)
	u, okUpd := upd.(*payload.Map)
	if !ok || !okUpd {
		return nil, &loader.ArgumentError{Message: "Cannot update using non-dict types in dictupdate.update()"}
	}
	dicts.Update(d, dicts.Clone(u).(*payload.Map), mergeLists)
	return d, nil
}

// updated is a map and another one to put over it.
type updated struct {
	Dest      any  `arg:"dest"`
	Over      any  `arg:"upd"`
	Recursive bool `arg:"recursive_update=True"`
	Lists     bool `arg:"merge_lists=False"`
}

func runUpdate(c *loader.Call, a updated) (any, error) {
	dest := Target(c, a.Dest)
	upd, ok := a.Over.(*payload.Map)
	if d, isMap := dest.(*payload.Map); isMap && ok && !a.Recursive {
		d.Update(dicts.Clone(upd).(*payload.Map))
		return d, nil
	}
	return Update(dest, a.Over, a.Lists)
}

// merging are the arguments that the merging functions share.
type merging struct {
	Strategy string `arg:"strategy=smart"`
	Renderer string `arg:"renderer=yaml"`
	Lists    bool   `arg:"merge_lists=False"`
}

func (a merging) of(c *loader.Call) dicts.Merging {
	return dicts.Merging{Strategy: a.Strategy, Renderer: a.Renderer, Lists: a.Lists,
		Warn: func(text string) { c.Log(slog.LevelWarn, text) }}
}

// two are values to merge.
type two struct {
	A any `arg:"obj_a"`
	B any `arg:"obj_b"`
	merging
}

func runMerge(c *loader.Call, a two) (any, error) {
	return a.of(c).Merge(dicts.Clone(a.A), dicts.Clone(a.B))
}

// several are values to merge.
type several struct {
	List any `arg:"lst"`
	merging
}

func runMergeAll(c *loader.Call, a several) (any, error) {
	m := a.of(c)
	var items []any
	switch lst := a.List.(type) {
	case []any:
		items = lst
	case *payload.Map:
		items = lst.Keys()
	case string:
		for _, r := range lst {
			items = append(items, string(r))
		}
	default:
		return nil, &loader.ArgumentError{Message: "'" + python.Type(lst) + "' object is not iterable"}
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
