package environmod

import (
	"log/slog"
	"strings"

	"brine/modules/host/environ"
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/event"
	"brine/wire/payload"
)

func writers() []loader.Func {
	return []loader.Func{
		{Name: "environ.setval", Params: []loader.Param{loader.Req("key"), loader.Req("val"),
			loader.Opt("false_unsets", false),
			loader.Opt("permanent", false)}, Run: setVal, Doc: `Set an environment variable of this job.

CLI Example:

    salt '*' environ.setval foo bar
    salt '*' environ.setval baz val=False false_unsets=True`},
		{Name: "environ.setenv", Params: []loader.Param{loader.Req("environ"), loader.Opt("false_unsets", false),
			loader.Opt("clear_all", false), loader.Opt("update_minion", false), loader.Opt("permanent", false)},
			Run: setEnv,
			Doc: `Set environment variables of this job, with update_minion those of the minion too.

CLI Example:

    salt '*' environ.setenv '{"foo": "bar", "baz": "quux"}'
    salt '*' environ.setenv '{"a": "b", "c": False}' false_unsets=True`},
	}
}

func setVal(c *loader.Call, a loader.Args) (any, error) {
	a.Get("permanent") // is for Windows
	return set(c, a.Get("key"), a.Get("val"), a.Get("false_unsets") == true), nil
}

// set gives a variable its value; False is an empty one, or none. It tells the value, nil for none, and False for what
// cannot be.
func set(c *loader.Call, key, val any, unsets bool) any {
	if _, ok := key.(string); !ok {
		noText(c, "key", key)
	}
	if val == false && unsets {
		return remove(c, key)
	}
	if val == false {
		val = ""
	}
	text, ok := val.(string)
	if !ok {
		c.Log(slog.LevelDebug, noValue(key, val))
		return false
	}
	if why := refused(key, text); why != "" {
		c.Log(slog.LevelError, logger+": Exception occurred when setting environ key '"+pytext.Str(key)+"': '"+why+"'")
		return false
	}
	environ.Of(c.Ctx).Set(key.(string), text)
	return text
}

func remove(c *loader.Call, key any) any {
	name, ok := key.(string)
	if !ok {
		c.Log(slog.LevelError,
			logger+": Exception occurred when unsetting environ key '"+pytext.Str(key)+"': '"+loader.Message(notText(key))+"'")
		return false
	}
	environ.Of(c.Ctx).Unset(name)
	return nil
}

func noValue(key, val any) string {
	return logger + ": 'val' argument for key '" + pytext.Str(key) + "' is not a string or False: '" + pytext.Str(val) +
		"'"
}

// refused is why the system takes no such variable, in Python's words; "" where it does.
func refused(key any, value string) string {
	name, ok := key.(string)
	switch {
	case !ok:
		return loader.Message(notText(key))
	case strings.ContainsRune(name, 0) || strings.ContainsRune(value, 0):
		return "embedded null byte"
	case strings.ContainsRune(name, '='):
		return "illegal environment variable name"
	case name == "":
		return "[Errno 22] Invalid argument"
	}
	return ""
}

func setEnv(c *loader.Call, a loader.Args) (any, error) {
	a.Get("permanent") // is for Windows
	given, ok := a.Get("environ").(*payload.Map)
	if !ok {
		c.Log(slog.LevelDebug, logger+": 'environ' argument is not a dict: '"+pytext.Str(a.Get("environ"))+"'")
		return false, nil
	}
	out, unsets := payload.NewMap(given.Len()), a.Get("false_unsets") == true
	if a.Get("clear_all") == true {
		for name := range all(c).All() {
			if !given.Has(name) {
				out.Set(name, set(c, name, false, unsets))
			}
		}
	}
	for key, val := range given.All() {
		if _, isText := val.(string); !isText && val != false {
			c.Log(slog.LevelDebug, noValue(key, val))
			return false, nil
		}
		out.Set(key, set(c, key, val, unsets))
	}
	if a.Get("update_minion") != true {
		return out, nil
	}
	_, err := c.Call("event.fire", []any{payload.M("environ", given, "false_unsets", a.Get("false_unsets"),
		"clear_all", a.Get("clear_all"),
		"permanent", a.Get("permanent")), event.TagSetEnv}, nil)
	return out, err
}

// all are the variables in the order of the environment.
func all(c *loader.Call) *payload.Map {
	out := payload.NewMap(0)
	for _, pair := range environ.Of(c.Ctx).List() {
		name, value, _ := strings.Cut(pair, "=")
		out.Set(name, value)
	}
	return out
}
