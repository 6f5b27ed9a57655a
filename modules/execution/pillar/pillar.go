// Package pillar is the execution module pillar: it shows the pillar in memory, and fresh ones of the master. What it
// shows is masked unless a template asks, or unmask says otherwise. modules/pillar compiles pillars.
// It answers to salt/modules/pillar.py and salt/utils/secret.py of 3008.
package pillar

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// unset is the default that stands for none (salt.defaults.NOT_SET).
const unset = "<Constant.NOT_SET>"

// Module is the module pillar.
func Module() loader.Module {
	return loader.Module{File: "pillar", Virtual: loader.Always, Funcs: func() []loader.Func {
		return slices.Concat(fromMemory(), fromMaster())
	}}
}

func fromMemory() []loader.Func {
	return []loader.Func{
		loader.Fn("get", get, "Get one value of the pillar, or a default.",
			"pillar.get pkg:apache",
			"pillar.get 'abc::def|ghi' delimiter='|' unmask=True"),
		loader.Fn("fetch", get, "The same as pillar.get.", "pillar.fetch pkg:apache").Named("get"),
		loader.Fn("item", item, "Get some values of the pillar by their keys.", "pillar.item foo foo:bar"),
		loader.Fn("raw", raw, "Get the pillar in memory, or what is under one key of it, as it is.",
			"pillar.raw",
			"pillar.raw key=roles"),
		loader.Fn("keys", keys, "List the keys of a map in the pillar.", "pillar.keys web:sites"),
		loader.Fn("filter_by", filterBy, "Pick from a table by a value of the pillar.",
			"pillar.filter_by '{web: Serve it up, db: I query, default: x}' role"),
		loader.Fn("file_exists", fileExists,
			"Tell whether a file is below pillar_roots, for functions that run on the master.",
			"pillar.file_exists foo/bar.sls"),
	}
}

// seen says of which environments the pillar is, and whether it is masked.
type seen struct {
	Pillarenv any `arg:"pillarenv=None"`
	Saltenv   any `arg:"saltenv=None"`
	Unmask    any `arg:"unmask=None"`
}

// pillarOf is the pillar in memory, or a fresh one of an environment.
func pillarOf(c *loader.Call, how seen) (*payload.Map, error) {
	if how.Saltenv == nil && how.Pillarenv == nil {
		return c.Pillar(), nil
	}
	fresh, err := compile(c, request{saltenv: how.Saltenv, pillarenv: how.Pillarenv})
	if err != nil || loader.IsUnmasked(c.Ctx) || !masksItems(c) {
		return fresh, err
	}
	out, _ := Mask(fresh).(*payload.Map) // as in Salt: unmask does not reach it
	return out, nil
}

type path struct {
	Key       string `arg:"key"`
	Default   any    `arg:"default=<Constant.NOT_SET>"` // unset
	Merge     bool   `arg:"merge=False"`
	Nested    any    `arg:"merge_nested_lists=None"`
	Delimiter string `arg:"delimiter=:"`
	seen
}

func get(c *loader.Call, a path) (any, error) {
	plain := unmasked(c, a.Unmask)
	pillar, err := pillarOf(c, a.seen)
	if err != nil {
		return nil, err
	}
	def := a.Default
	raise := def == any(unset) && python.Truth(c.Opts().Value("pillar_raise_on_missing"))
	if def == any(unset) {
		def = ""
	}
	found, ok := dicts.Traverse(pillar, a.Key, a.Delimiter)
	if a.Merge {
		if merged, ok := merge(c, a.Nested, def, found, ok); ok {
			return shown(merged, plain), nil
		}
	}
	switch {
	case !ok && raise:
		return nil, loader.Raise("KeyError", "%s", python.Repr("Pillar key not found: "+a.Key))
	case !ok:
		found = def
	}
	return shown(found, plain), nil
}

// merge puts what was found over the default, where both are maps or lists.
func merge(c *loader.Call, nested, def, found any, ok bool) (any, bool) {
	if nested == nil {
		nested = c.Opts().Value("pillar_merge_lists")
	}
	switch d := def.(type) {
	case *payload.Map:
		if !ok {
			found = payload.NewMap(0)
		}
		if over, ok := found.(*payload.Map); ok {
			out := dicts.Clone(d).(*payload.Map)
			dicts.Update(out, over, python.Truth(nested))
			return out, true
		}
	case []any:
		if !ok {
			return d, true
		}
		if over, ok := found.([]any); ok {
			out := append([]any{}, d...)
			for _, v := range over {
				if !dicts.Contains(d, v) {
					out = append(out, v)
				}
			}
			return out, true
		}
	default:
		c.Log(slog.LevelError, "pillar.get: Default ("+python.Str(def)+") is of type '"+python.Type(def)+
			"', must be a dict or list to merge. Merge will be skipped.")
		return nil, false
	}
	c.Log(slog.LevelError, "pillar.get: the default is of type '"+python.Type(def)+
		"', but the returned pillar value is of type '"+python.Type(found)+"'. Merge will be skipped.")
	return nil, false
}

type some struct {
	Keys      []any `arg:"*args"`
	Default   any   `arg:"default=None"`
	Delimiter any   `arg:"delimiter=None"`
	seen
}

// item gives the values under the keys that were given.
func item(c *loader.Call, a some) (any, error) {
	pillar, err := pillarOf(c, a.seen)
	if err != nil {
		return nil, err
	}
	def, delimiter := a.Default, a.Delimiter
	if delimiter == nil {
		delimiter = ":"
	}
	if def == nil {
		def = ""
	}
	out := payload.NewMap(len(a.Keys))
	for _, key := range a.Keys {
		v, ok := dicts.Traverse(pillar, loader.Text(key), loader.Text(delimiter))
		if !ok {
			v = def
		}
		out.Set(key, v)
	}
	return shown(out, unmasked(c, a.Unmask)), nil
}

type part struct {
	Key    any `arg:"key=None"`
	Unmask any `arg:"unmask=None"`
}

func raw(c *loader.Call, a part) (any, error) {
	plain := a.Unmask == nil || python.Truth(a.Unmask)
	if !python.Truth(a.Key) {
		return shown(c.Pillar().Clone(), plain), nil
	}
	v, ok := c.Pillar().Get(a.Key)
	if !ok {
		v = payload.NewMap(0)
	}
	return shown(v, plain), nil
}

type listed struct {
	Key       string `arg:"key"`
	Delimiter string `arg:"delimiter=:"`
	Unmask    any    `arg:"unmask=None"` // keys are never masked
}

func keys(c *loader.Call, a listed) (any, error) {
	v, ok := dicts.Traverse(c.Pillar(), a.Key, a.Delimiter)
	if !ok {
		return nil, loader.Raise("KeyError", "%s", python.Repr("Pillar key not found: "+a.Key))
	}
	m, ok := v.(*payload.Map)
	if !ok {
		return nil, loader.Raise("ValueError", "Pillar value in key %s is not a dict", a.Key)
	}
	return m.Keys(), nil
}

type filtered struct {
	Table   any    `arg:"lookup_dict"`
	Path    string `arg:"pillar"`
	Merge   any    `arg:"merge=None"`
	Default any    `arg:"default=default"`
	Base    any    `arg:"base=None"`
}

func filterBy(c *loader.Call, a filtered) (any, error) {
	table, ok := a.Table.(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'get'", python.Type(a.Table))
	}
	v, wrong := dicts.FilterBy{Table: table, Own: c.Nested(), Path: a.Path, In: c.Pillar(),
		Merge: a.Merge, Default: a.Default, Base: a.Base}.Pick()
	if wrong != "" {
		return nil, loader.Raise("salt.exceptions.SaltException", "%s", wrong)
	}
	return v, nil
}

type file struct {
	Path    string `arg:"path"`
	Saltenv any    `arg:"saltenv=None"`
}

// fileExists looks below pillar_roots. Unlike Salt: a path cannot lead out of them.
func fileExists(c *loader.Call, a file) (any, error) {
	roots := c.Opts().Map("pillar_roots")
	if roots.Len() == 0 {
		return nil, loader.ExecErr("No pillar_roots found. Are you running this on the master?")
	}
	for env, dirs := range roots.All() {
		if python.Truth(a.Saltenv) && env != a.Saltenv {
			continue
		}
		for _, dir := range loader.StringList(dirs) {
			if !filepath.IsLocal(a.Path) {
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, a.Path)); err == nil && info.Mode().IsRegular() {
				return true, nil
			}
		}
	}
	return false, nil
}

// fromYAML reads text in YAML; other values are left as they are.
func fromYAML(v any) (any, error) {
	if text, ok := v.(string); ok {
		return yaml.Load([]byte(text))
	}
	return v, nil
}
