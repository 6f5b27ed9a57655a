// Package defaults holds the execution functions of the module defaults: what a formula has as its defaults, and maps
// put over each other. It answers to salt/modules/defaults.py.
package defaults

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"brine/modules/execution/slsutil"
	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/modules/matchers"
	"brine/modules/renderers/saltyaml"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// Module is the module defaults.
func Module() loader.Module {
	return loader.Module{File: "defaults", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("get", get, "Give a value of the file defaults.yaml or defaults.json of a formula.",
				"defaults.get core:users:root"),
			loader.Fn("merge", merge, "Put a map over another one, as formulas do with their defaults.",
				"defaults.merge '{a: b}' '{d: e}'"),
			loader.Fn("deepcopy", deepcopy, "Give a copy of a value.", "defaults.deepcopy '{a: b}'"),
			loader.Fn("update", update, "Put each map of a map over the same defaults.",
				"defaults.update '{host01: {ip: 1}}' '{enabled: True}'"),
		}
	}}
}

// lookup is the way to a value: the formula, then keys.
type lookup struct {
	Key     string `arg:"key"`
	Default any    `arg:"default=''"`
}

// get is a value of defaults.yaml or defaults.json in the folder that the first word names.
func get(c *loader.Call, a lookup) (any, error) {
	formula, rest, deep := strings.Cut(a.Key, ":")
	found, err := loadDefaults(c, formula)
	if err != nil || !deep || rest == "" {
		return found, err
	}
	if v, ok := matchers.Traverse(found, rest, ""); ok {
		return v, nil
	}
	return a.Default, nil
}

// loadDefaults reads the first file of defaults that a formula has; nil without one.
func loadDefaults(c *loader.Call, formula string) (any, error) {
	client, err := fileclient.For(c)
	if err != nil {
		return nil, err
	}
	names := []string{"salt://" + formula + "/defaults.yaml", "salt://" + formula + "/defaults.json"}
	files, err := client.CacheFiles(c.Ctx, names, "base")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(files, python.Truth)
	if i < 0 {
		return nil, nil
	}
	name := python.Str(files[i])
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	load := pyjson.Load
	if strings.HasSuffix(name, ".yaml") {
		load = saltyaml.Load
	}
	v, err := load(string(text))
	if err == nil && !python.Truth(v) {
		v = payload.NewMap(0)
	}
	return v, err
}

// emptyFor is a value, or an empty map for None where that is wanted.
func emptyFor(v any, convert bool) any {
	if v == nil && convert {
		return payload.NewMap(0)
	}
	return v
}

// how says whether a map is changed where it stands, and whether None is an empty one.
type how struct {
	InPlace bool `arg:"in_place=True"`
	Convert bool `arg:"convert_none=True"`
}

// merged is a map and another one to put over it.
type merged struct {
	Dest  any  `arg:"dest"`
	Src   any  `arg:"src"`
	Lists bool `arg:"merge_lists=False"`
	how
}

func merge(c *loader.Call, a merged) (any, error) {
	convert := a.Convert
	dest, src := a.Dest, emptyFor(a.Src, convert)
	if dest == nil && convert {
		if a.InPlace {
			return nil, &loader.ArgumentError{Message: "Can't perform in-place merge into NoneType"}
		}
		dest = payload.NewMap(0)
	}
	if a.InPlace {
		dest = slsutil.Target(c, dest)
	} else {
		dest = dicts.Clone(dest)
	}
	return slsutil.Update(dest, src, a.Lists)
}

// source is a value to copy.
type source struct {
	Value any `arg:"source"`
}

func deepcopy(_ *loader.Call, a source) (any, error) { return dicts.Clone(a.Value), nil }

// updated is a map of maps, and what is put under each.
type updated struct {
	Dest     any  `arg:"dest"`
	Defaults any  `arg:"defaults"`
	Lists    bool `arg:"merge_lists=True"`
	how
}

func update(c *loader.Call, a updated) (any, error) {
	convert := a.Convert
	dest := a.Dest
	if a.InPlace && dest == nil {
		return nil, &loader.ArgumentError{Message: "Can't perform in-place update into NoneType"}
	}
	nodes, ok := emptyFor(dest, convert).(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'items'", python.Type(dest))
	}
	if a.InPlace {
		nodes = slsutil.Target(c, nodes).(*payload.Map)
	} else {
		nodes = dicts.Clone(nodes).(*payload.Map)
	}
	defaults := emptyFor(a.Defaults, convert)
	for _, name := range nodes.Keys() {
		over, err := slsutil.Update(dicts.Clone(defaults), emptyFor(nodes.Value(name), convert), a.Lists)
		if err != nil {
			return nil, err
		}
		nodes.Set(name, over)
	}
	return nodes, nil
}
