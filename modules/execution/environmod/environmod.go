// Package environmod holds the execution functions of the module environ: the environment variables of the job that
// calls them (modules/host/environ). It answers to salt/modules/environ.py.
package environmod

import (
	"log/slog"

	"brine/modules/host/environ"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// logger is the name that the reference puts before its lines.
const logger = "salt.loaded.int.module.environ"

// Functions lists the functions of the module.
func Functions() []loader.Func {
	all := append(readers(), writers()...)
	for i := range all {
		all[i].Source = "salt/modules/environ.py"
	}
	return all
}

func readers() []loader.Func {
	return []loader.Func{
		{Name: "environ.get", Params: []loader.Param{loader.Req("key"), loader.Opt("default", "")}, Run: get,
			Doc: `Show an environment variable.

CLI Example:

    salt '*' environ.get HOME
    salt '*' environ.get baz default=False`},
		{Name: "environ.has_value", Params: []loader.Param{loader.Req("key"), loader.Opt("value", nil)},
			Run: hasValue,
			Doc: `Tell whether there is an environment variable, and whether it has this value.

CLI Example:

    salt '*' environ.has_value foo`},
		{Name: "environ.item", Params: []loader.Param{loader.Req("keys"), loader.Opt("default", "")}, Run: item,
			Doc: `Show some environment variables.

CLI Example:

    salt '*' environ.item '[foo, baz]' default=None`},
		{Name: "environ.items", Run: items, Doc: `Show all environment variables.

CLI Example:

    salt '*' environ.items`},
	}
}

func get(c *loader.Call, a loader.Args) (any, error) {
	key, ok := a.Get("key").(string)
	if !ok {
		return noText(c, "key", a.Get("key")), nil
	}
	return valueOf(c, key, a.Get("default")), nil
}

// noText notes an argument that is no text. The answer is False then.
func noText(c *loader.Call, name string, v any) bool {
	c.Log(slog.LevelDebug, logger+": '"+name+"' argument is not a string type: '"+pytext.Str(v)+"'")
	return false
}

func valueOf(c *loader.Call, key string, otherwise any) any {
	if value, ok := environ.Of(c.Ctx).Get(key); ok {
		return value
	}
	return otherwise
}

func hasValue(c *loader.Call, a loader.Args) (any, error) {
	key, ok := a.Get("key").(string)
	if !ok {
		return noText(c, "key", a.Get("key")), nil
	}
	value, there := environ.Of(c.Ctx).Get(key)
	return there && (a.Get("value") == nil || a.Get("value") == any(value)), nil
}

func item(c *loader.Call, a loader.Args) (any, error) {
	var keys []any
	switch x := a.Get("keys").(type) {
	case string:
		keys = []any{x}
	case []any:
		keys = x
	default:
		c.Log(slog.LevelDebug, logger+": 'keys' argument is not a string or list type: '"+pytext.Str(x)+"'")
	}
	out := payload.NewMap(len(keys))
	for _, k := range keys {
		key, ok := k.(string)
		if !ok {
			return nil, notText(k)
		}
		out.Set(key, valueOf(c, key, a.Get("default")))
	}
	return out, nil
}

// notText is the error of Python's os.environ.
func notText(v any) error {
	return &loader.ArgumentError{Message: "str expected, not " + pytext.Type(v)}
}

func items(c *loader.Call, _ loader.Args) (any, error) { return all(c), nil }
