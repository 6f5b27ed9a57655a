package environ

import (
	"log/slog"
	"strings"

	"brine/modules/host/environ"
	"brine/modules/loader"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

func writers() []loader.Func {
	return []loader.Func{
		loader.Fn("setval", setVal, "Set an environment variable of this job.",
			"environ.setval foo bar", "environ.setval baz val=False false_unsets=True"),
		loader.Fn("setenv", setEnv,
			"Set environment variables of this job, with update_minion those of the minion too.",
			`environ.setenv '{"foo": "bar", "baz": "quux"}'`,
			`environ.setenv '{"a": "b", "c": False}' false_unsets=True`),
	}
}

type variable struct {
	Key         any `arg:"key"`
	Value       any `arg:"val"`
	FalseUnsets any `arg:"false_unsets=False"`
	Permanent   any `arg:"permanent=False"` // is for Windows
}

func setVal(c *loader.Call, a variable) (any, error) {
	return set(c, a.Key, a.Value, a.FalseUnsets == true), nil
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
		c.Log(slog.LevelError, logger+": Exception occurred when setting environ key '"+python.Str(key)+"': '"+why+"'")
		return false
	}
	environ.Of(c.Ctx).Set(key.(string), text)
	return text
}

func remove(c *loader.Call, key any) any {
	name, ok := key.(string)
	if !ok {
		c.Log(slog.LevelError, logger+": Exception occurred when unsetting environ key '"+python.Str(key)+"': '"+
			loader.Message(notText(key))+"'")
		return false
	}
	environ.Of(c.Ctx).Unset(name)
	return nil
}

func noValue(key, val any) string {
	return logger + ": 'val' argument for key '" + python.Str(key) + "' is not a string or False: '" + python.Str(val) +
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

type variables struct {
	Environ      any `arg:"environ"`
	FalseUnsets  any `arg:"false_unsets=False"`
	ClearAll     any `arg:"clear_all=False"`
	UpdateMinion any `arg:"update_minion=False"`
	Permanent    any `arg:"permanent=False"` // is for Windows
}

func setEnv(c *loader.Call, a variables) (any, error) {
	given, ok := a.Environ.(*payload.Map)
	if !ok {
		c.Log(slog.LevelDebug, logger+": 'environ' argument is not a dict: '"+python.Str(a.Environ)+"'")
		return false, nil
	}
	out, unsets := payload.NewMap(given.Len()), a.FalseUnsets == true
	if a.ClearAll == true {
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
	if a.UpdateMinion != true {
		return out, nil
	}
	_, err := c.Call("event.fire", []any{payload.M("environ", given, "false_unsets", a.FalseUnsets,
		"clear_all", a.ClearAll, "permanent", a.Permanent), event.TagSetEnv}, nil)
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
