// Package grains is the execution module grains: it reads grains, and changes the static ones in the grains file of the
// configuration directory. It answers to salt/modules/grains.py.
package grains

import (
	"slices"
	"sort"
	"strings"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module grains.
func Module() loader.Module {
	return loader.Module{File: "grains", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(readers(), writers())
	}}
}

func readers() []loader.Func {
	const getDoc = "Get a grain, or a value inside of one by its path."
	getExamples := []string{"grains.get pkg:apache", "grains.get abc::def|ghi delimiter='|'"}
	return []loader.Func{
		loader.Fn("get", get, getDoc, getExamples...),
		loader.Fn("fetch", get, getDoc, getExamples...).Named("get"),
		loader.Fn("has_value", hasValue, "Tell whether there is such a grain or path.", "grains.has_value pkg:apache"),
		loader.Fn("items", items, "Get all grains; with sanitize=True without names and serial numbers.",
			"grains.items",
			"grains.items sanitize=True").Shows("nested"),
		loader.Fn("item", item, "Get several grains by name or path.",
			"grains.item os",
			"grains.item os osrelease oscodename",
			"grains.item host sanitize=True").Shows("nested"),
		loader.Fn("ls", ls, "List the names of all grains.", "grains.ls"),
		loader.Fn("equals", equals, "Tell whether a grain has a value, compared as text.",
			"grains.equals fqdn web1.example.com"),
		loader.Fn("filter_by", filterBy, "Pick from a table by the value of a grain.",
			"grains.filter_by '{Debian: Debheads rule, RedHat: I love my hat}'"),
	}
}

type path struct {
	Key       any `arg:"key"`
	Default   any `arg:"default=''"`
	Delimiter any `arg:"delimiter=:"`
	Ordered   any `arg:"ordered=True"`
}

func get(c *loader.Call, a path) (any, error) {
	if v, ok := lookup(c, python.Str(a.Key), python.Str(a.Delimiter)); ok {
		return v, nil
	}
	return a.Default, nil
}

// lookup follows a path through the grains. Only the grain the path begins with is computed.
func lookup(c *loader.Call, key, delim string) (any, bool) {
	top := key
	if delim != "" {
		top, _, _ = strings.Cut(key, delim)
	}
	if v, ok := c.Grain(top); ok {
		return dicts.Traverse(payload.M(top, v), key, delim)
	}
	if _, isText := yaml.Scalar(top).(string); isText {
		return nil, false
	}
	return dicts.Traverse(c.Grains(), key, delim) // a static grain whose name is a number
}

type named struct {
	Key any `arg:"key"`
}

func hasValue(c *loader.Call, a named) (bool, error) {
	_, ok := lookup(c, python.Str(a.Key), ":")
	return ok, nil
}

type shown struct {
	Sanitize any `arg:"sanitize=False"`
}

func items(c *loader.Call, a shown) (any, error) {
	if !dicts.IsTrue(a.Sanitize) {
		return c.Grains(), nil
	}
	return sanitize(c.Grains().Clone()), nil
}

type some struct {
	Names []any        `arg:"*args"`
	KW    *payload.Map `arg:"**kwargs"`
}

func item(c *loader.Call, a some) (any, error) {
	def, ok := a.KW.Get("default")
	if !ok {
		def = ""
	}
	delim := ":"
	if v, ok := a.KW.Get("delimiter"); ok {
		delim = python.Str(v)
	}
	out := payload.NewMap(len(a.Names))
	for _, name := range a.Names {
		v, ok := lookup(c, python.Str(name), delim)
		if !ok {
			v = def
		}
		out.Set(name, v)
	}
	if dicts.IsTrue(a.KW.Value("sanitize")) {
		return sanitize(out), nil
	}
	return out, nil
}

// sanitize hides names and part of the serial number.
func sanitize(grains *payload.Map) *payload.Map {
	for key, word := range map[string]string{
		"domain": "DOMAINNAME", "fqdn": "MINION.DOMAINNAME", "id": "MINION.DOMAINNAME",
		"host": "MINION", "localhost": "MINION", "nodename": "MINION",
	} {
		if grains.Has(key) {
			grains.Set(key, word)
		}
	}
	if serial := grains.Str("serialnumber"); serial != "" {
		runes := []rune(serial)
		for i := len(runes) * 3 / 4; i < len(runes); i++ {
			runes[i] = 'X'
		}
		grains.Set("serialnumber", string(runes))
	}
	return grains
}

func ls(c *loader.Call, _ struct{}) (any, error) {
	var names []string
	for k := range c.Grains().All() {
		names = append(names, python.Str(k))
	}
	sort.Strings(names)
	return payload.AnyList(names), nil
}

type compared struct {
	named
	Value any `arg:"value"`
}

func equals(c *loader.Call, a compared) (bool, error) {
	v, ok := lookup(c, python.Str(a.Key), ":")
	if !ok {
		v = ""
	}
	return python.Str(a.Value) == python.Str(v), nil
}

type filtered struct {
	Table   any    `arg:"lookup_dict"`
	Grain   string `arg:"grain=os_family"`
	Merge   any    `arg:"merge=None"`
	Default any    `arg:"default=default"`
	Base    any    `arg:"base=None"`
}

func filterBy(c *loader.Call, a filtered) (any, error) {
	table, ok := a.Table.(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'get'", python.Type(a.Table))
	}
	v, errText := dicts.FilterBy{Table: table, Own: c.Nested(), Path: a.Grain, In: c.Grains(),
		Merge: a.Merge, Default: a.Default, Base: a.Base}.Pick()
	if errText != "" {
		return nil, loader.Raise("salt.exceptions.SaltException", "%s", errText)
	}
	return v, nil
}
