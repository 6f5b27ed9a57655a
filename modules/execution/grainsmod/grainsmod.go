// Package grainsmod holds the execution functions of module grains: reading grains, and changing the static ones
// in the grains file of the configuration directory. It answers to salt/modules/grains.py.
package grainsmod

import (
	"sort"
	"strings"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// Functions lists the module's functions.
func Functions() []loader.Func {
	funcs := append(readers(), writers()...)
	for i := range funcs {
		funcs[i].Source = "salt/modules/grains.py"
	}
	return funcs
}

func delimiter() loader.Param { return loader.Opt("delimiter", ":") }

func readers() []loader.Func {
	getParams := []loader.Param{loader.Req("key"), loader.Opt("default", ""), delimiter(), loader.Opt("ordered", true)}
	getDoc := `Get a grain, or a value inside of one by its path.

CLI Example:

    salt '*' grains.get pkg:apache
    salt '*' grains.get abc::def|ghi delimiter='|'`
	return []loader.Func{
		{Name: "grains.get", Params: getParams, Run: get, Doc: getDoc},
		{Name: "grains.fetch", PyName: "get", Params: getParams, Run: get, Doc: getDoc},
		{Name: "grains.has_value", Params: []loader.Param{loader.Req("key")}, Run: hasValue, Doc: `Tell whether there is such a grain or path.

CLI Example:

    salt '*' grains.has_value pkg:apache`},
		{Name: "grains.items", Params: []loader.Param{loader.Opt("sanitize", false)}, Outputter: "nested", Run: items,
			Doc: `Get all grains; with sanitize=True without names and serial numbers.

CLI Example:

    salt '*' grains.items
    salt '*' grains.items sanitize=True`},
		{Name: "grains.item", VarArgs: true, KWArgs: true, Outputter: "nested", Run: item, Doc: `Get several grains by name or path.

CLI Example:

    salt '*' grains.item os
    salt '*' grains.item os osrelease oscodename
    salt '*' grains.item host sanitize=True`},
		{Name: "grains.ls", Run: ls, Doc: `List the names of all grains.

CLI Example:

    salt '*' grains.ls`},
		{Name: "grains.equals", Params: []loader.Param{loader.Req("key"), loader.Req("value")}, Run: equals,
			Doc: `Tell whether a grain has a value, compared as text.

CLI Example:

    salt '*' grains.equals fqdn web1.example.com`},
		{Name: "grains.filter_by", Params: []loader.Param{loader.Req("lookup_dict"), loader.Opt("grain", "os_family"), loader.Opt("merge", nil),
			loader.Opt("default", "default"), loader.Opt("base", nil)}, Run: filterBy,
			Doc: `Pick from a table by the value of a grain.

CLI Example:

    salt '*' grains.filter_by '{Debian: Debheads rule, RedHat: I love my hat}'`},
	}
}

func get(c *loader.Call, a loader.Args) (any, error) {
	if v, ok := lookup(c, pytext.Str(a.Get("key")), pytext.Str(a.Get("delimiter"))); ok {
		return v, nil
	}
	return a.Get("default"), nil
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

func hasValue(c *loader.Call, a loader.Args) (any, error) {
	_, ok := lookup(c, pytext.Str(a.Get("key")), ":")
	return ok, nil
}

func items(c *loader.Call, a loader.Args) (any, error) {
	if !dicts.IsTrue(a.Get("sanitize")) {
		return c.Grains(), nil
	}
	return sanitize(c.Grains().Clone()), nil
}

func item(c *loader.Call, a loader.Args) (any, error) {
	def, ok := a.KW.Get("default")
	if !ok {
		def = ""
	}
	delim := ":"
	if v, ok := a.KW.Get("delimiter"); ok {
		delim = pytext.Str(v)
	}
	out := payload.NewMap(len(a.Rest))
	for _, name := range a.Rest {
		v, ok := lookup(c, pytext.Str(name), delim)
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
	for key, word := range map[string]string{"domain": "DOMAINNAME", "fqdn": "MINION.DOMAINNAME", "id": "MINION.DOMAINNAME",
		"host": "MINION", "localhost": "MINION", "nodename": "MINION"} {
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

func ls(c *loader.Call, _ loader.Args) (any, error) {
	var names []string
	for k := range c.Grains().All() {
		names = append(names, pytext.Str(k))
	}
	sort.Strings(names)
	out := payload.AnyList(names)
	return out, nil
}

func equals(c *loader.Call, a loader.Args) (any, error) {
	v, ok := lookup(c, pytext.Str(a.Get("key")), ":")
	if !ok {
		v = ""
	}
	return pytext.Str(a.Get("value")) == pytext.Str(v), nil
}

func filterBy(c *loader.Call, a loader.Args) (any, error) {
	table, ok := a.Get("lookup_dict").(*payload.Map)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'get'", pytext.Type(a.Get("lookup_dict")))
	}
	v, errText := dicts.FilterBy{Table: table, Own: c.Nested(), Path: a.Str("grain"), In: c.Grains(), Merge: a.Get("merge"), Default: a.Get("default"),
		Base: a.Get("base")}.Pick()
	if errText != "" {
		return nil, loader.Raise("salt.exceptions.SaltException", "%s", errText)
	}
	return v, nil
}
