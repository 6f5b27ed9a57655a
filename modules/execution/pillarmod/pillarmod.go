// Package pillarmod holds the execution functions of the module pillar: the pillar in memory, and fresh ones of the master.
// What they show is masked unless a template asks, or unmask says otherwise. How a pillar is compiled is the business of
// modules/pillar. It answers to salt/modules/pillar.py and salt/utils/secret.py of 3008.
package pillarmod

import (
	"log/slog"
	"os"
	"path/filepath"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// unset is the default that stands for none (salt.defaults.NOT_SET).
const unset = "<Constant.NOT_SET>"

// Functions lists the functions.
func Functions() []loader.Func {
	funcs := append(fromMemory(), fromMaster()...)
	for i := range funcs {
		funcs[i].Source = "salt/modules/pillar.py"
	}
	return funcs
}

func fromMemory() []loader.Func {
	getParams := []loader.Param{loader.Req("key"), loader.Opt("default", unset), loader.Opt("merge", false), loader.Opt("merge_nested_lists", nil),
		loader.Opt("delimiter", ":"), loader.Opt("pillarenv", nil), loader.Opt("saltenv", nil), loader.Opt("unmask", nil)}
	return []loader.Func{
		{Name: "pillar.get", Params: getParams, Run: get, Doc: `Get one value of the pillar, or a default.

CLI Example:

    salt '*' pillar.get pkg:apache
    salt '*' pillar.get 'abc::def|ghi' delimiter='|' unmask=True`},
		{Name: "pillar.fetch", PyName: "get", Params: getParams, Run: get, Doc: `The same as pillar.get.

CLI Example:

    salt '*' pillar.fetch pkg:apache`},
		{Name: "pillar.item", VarArgs: true, ByName: true, Params: []loader.Param{loader.Opt("default", nil), loader.Opt("delimiter", nil),
			loader.Opt("pillarenv", nil), loader.Opt("saltenv", nil), loader.Opt("unmask", nil)}, Run: item, Doc: `Get some values of the pillar by their keys.

CLI Example:

    salt '*' pillar.item foo foo:bar`},
		{Name: "pillar.raw", Params: []loader.Param{loader.Opt("key", nil), loader.Opt("unmask", nil)}, Run: raw,
			Doc: `Get the pillar in memory, or what is under one key of it, as it is.

CLI Example:

    salt '*' pillar.raw
    salt '*' pillar.raw key=roles`},
		{Name: "pillar.keys", Params: []loader.Param{loader.Req("key"), loader.Opt("delimiter", ":"), loader.Opt("unmask", nil)}, Run: keys,
			Doc: `List the keys of a map in the pillar.

CLI Example:

    salt '*' pillar.keys web:sites`},
		{Name: "pillar.filter_by", Params: []loader.Param{loader.Req("lookup_dict"), loader.Req("pillar"), loader.Opt("merge", nil),
			loader.Opt("default", "default"), loader.Opt("base", nil)}, Run: filterBy, Doc: `Pick from a table by a value of the pillar.

CLI Example:

    salt '*' pillar.filter_by '{web: Serve it up, db: I query, default: x}' role`},
		{Name: "pillar.file_exists", Params: []loader.Param{loader.Req("path"), loader.Opt("saltenv", nil)}, Run: fileExists,
			Doc: `Tell whether a file is below pillar_roots, for functions that run on the master.

CLI Example:

    salt '*' pillar.file_exists foo/bar.sls`},
	}
}

// unmasked tells whether values are shown as they are.
func unmasked(c *loader.Call, unmask any) bool {
	if unmask == nil {
		return loader.IsUnmasked(c.Ctx)
	}
	return loader.Truthy(unmask)
}

// shown is a copy of a value, masked or not.
func shown(v any, plain bool) any {
	if plain {
		return dicts.Clone(v)
	}
	return Mask(v)
}

// mask stands for a value that is not shown.
const mask = "**********"

// Mask hides each value that is not empty; keys stay (salt.utils.secret.serial).
func Mask(v any) any {
	switch v := v.(type) {
	case *payload.Map:
		out := payload.NewMap(v.Len())
		for k, e := range v.All() {
			out.Set(k, Mask(e))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Mask(v[i])
		}
		return out
	case []byte:
		if len(v) > 0 {
			return []byte(mask)
		}
		return v
	case payload.Bytes:
		if len(v) > 0 {
			return payload.Bytes(mask)
		}
		return v
	}
	if loader.Truthy(v) {
		return mask
	}
	return v
}

// pillarOf is the pillar in memory, or a fresh one of an environment.
func pillarOf(c *loader.Call, saltenv, pillarenv any) (*payload.Map, error) {
	if saltenv == nil && pillarenv == nil {
		return c.Pillar(), nil
	}
	fresh, err := compile(c, request{saltenv: saltenv, pillarenv: pillarenv})
	if err != nil || loader.IsUnmasked(c.Ctx) || !masksItems(c) {
		return fresh, err
	}
	out, _ := Mask(fresh).(*payload.Map) // as in Salt: unmask does not reach it
	return out, nil
}

func get(c *loader.Call, a loader.Args) (any, error) {
	key, delimiter, plain := a.Str("key"), a.Str("delimiter"), unmasked(c, a.Get("unmask"))
	pillar, err := pillarOf(c, a.Get("saltenv"), a.Get("pillarenv"))
	if err != nil {
		return nil, err
	}
	def := a.Get("default")
	raise := def == any(unset) && loader.Truthy(c.Opts().Value("pillar_raise_on_missing"))
	if def == any(unset) {
		def = ""
	}
	found, ok := dicts.Traverse(pillar, key, delimiter)
	if a.Bool("merge") {
		if merged, ok := merge(c, a, def, found, ok); ok {
			return shown(merged, plain), nil
		}
	}
	switch {
	case !ok && raise:
		return nil, loader.Raise("KeyError", "%s", pytext.Repr("Pillar key not found: "+key))
	case !ok:
		found = def
	}
	return shown(found, plain), nil
}

// merge puts what was found over the default, where both are maps or lists.
func merge(c *loader.Call, a loader.Args, def, found any, ok bool) (any, bool) {
	nested := a.Get("merge_nested_lists")
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
			dicts.Update(out, over, loader.Truthy(nested))
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
		c.Log(slog.LevelError, "pillar.get: Default ("+pytext.Str(def)+") is of type '"+pytext.Type(def)+
			"', must be a dict or list to merge. Merge will be skipped.")
		return nil, false
	}
	c.Log(slog.LevelError, "pillar.get: the default is of type '"+pytext.Type(def)+"', but the returned pillar value is of type '"+
		pytext.Type(found)+"'. Merge will be skipped.")
	return nil, false
}

func item(c *loader.Call, a loader.Args) (any, error) {
	return someItems(c, a, a.Get("default"), a.Get("delimiter"))
}

// someItems are the values under the keys that were given.
func someItems(c *loader.Call, a loader.Args, def, delimiter any) (any, error) {
	pillar, err := pillarOf(c, a.Get("saltenv"), a.Get("pillarenv"))
	if err != nil {
		return nil, err
	}
	if delimiter == nil {
		delimiter = ":"
	}
	if def == nil {
		def = ""
	}
	out := payload.NewMap(len(a.Rest))
	for _, key := range a.Rest {
		v, ok := dicts.Traverse(pillar, loader.Text(key), loader.Text(delimiter))
		if !ok {
			v = def
		}
		out.Set(key, v)
	}
	return shown(out, unmasked(c, a.Get("unmask"))), nil
}

func raw(c *loader.Call, a loader.Args) (any, error) {
	plain := a.Get("unmask") == nil || a.Bool("unmask")
	if !loader.Truthy(a.Get("key")) {
		return shown(c.Pillar().Clone(), plain), nil
	}
	v, ok := c.Pillar().Get(a.Get("key"))
	if !ok {
		v = payload.NewMap(0)
	}
	return shown(v, plain), nil
}

func keys(c *loader.Call, a loader.Args) (any, error) {
	v, ok := dicts.Traverse(c.Pillar(), a.Str("key"), a.Str("delimiter"))
	if !ok {
		return nil, loader.Raise("KeyError", "%s", pytext.Repr("Pillar key not found: "+a.Str("key")))
	}
	m, ok := v.(*payload.Map)
	if !ok {
		return nil, loader.Raise("ValueError", "Pillar value in key %s is not a dict", a.Str("key"))
	}
	return m.Keys(), nil
}

func filterBy(c *loader.Call, a loader.Args) (any, error) {
	table, ok := a.Get("lookup_dict").(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'get'", pytext.Type(a.Get("lookup_dict")))
	}
	v, wrong := dicts.FilterBy{Table: table, Own: c.Nested(), Path: a.Str("pillar"), In: c.Pillar(), Merge: a.Get("merge"), Default: a.Get("default"),
		Base: a.Get("base")}.Pick()
	if wrong != "" {
		return nil, loader.Raise("salt.exceptions.SaltException", "%s", wrong)
	}
	return v, nil
}

// fileExists looks below pillar_roots. Unlike Salt: a path cannot lead out of them.
func fileExists(c *loader.Call, a loader.Args) (any, error) {
	roots := c.Opts().Map("pillar_roots")
	if roots.Len() == 0 {
		return nil, loader.ExecErr("No pillar_roots found. Are you running this on the master?")
	}
	for env, dirs := range roots.All() {
		if loader.Truthy(a.Get("saltenv")) && env != a.Get("saltenv") {
			continue
		}
		for _, dir := range loader.StringList(dirs) {
			if !filepath.IsLocal(a.Str("path")) {
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, a.Str("path"))); err == nil && info.Mode().IsRegular() {
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
