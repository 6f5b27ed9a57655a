package module

import (
	"errors"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// runListed calls functions that are keys, with lists of arguments. A key may end in a colon and anything else, so that
// a function can be called twice.
func runListed(c *states.Call, given *payload.Map) (states.Plan, error) {
	kw := given.Clone()
	kw.Delete("name")
	var keys, missing, here []string
	for key := range kw.All() {
		name := python.Str(key)
		if !strings.Contains(name, ".") {
			continue
		}
		keys = append(keys, name)
		if fun := function(name); c.Has(fun) {
			here = append(here, fun)
		} else {
			missing = append(missing, fun)
		}
	}
	p := states.Plan{Name: kw.Keys()}
	switch {
	case len(keys) == 0:
		p.Result, p.Comment = false, "No function provided."
	case len(missing) > 0:
		p.Result, p.Comment = false, "Unavailable "+several("function", missing)+": "+strings.Join(missing, ", ")+"."
		if c.Test && len(here) > 0 {
			p.Comment = p.Comment.(string) + " " + toBeExecuted(here)
		}
	default:
		p.Comment = toBeExecuted(here)
		p.Apply = func() (states.Done, error) { return callAll(c, keys, kw) }
	}
	return p, nil
}

// function is the name of the function that a key means.
func function(key string) string {
	fun, _, _ := strings.Cut(key, ":")
	return fun
}

// several is a word for one or more. Unlike Salt, which makes "functionTrue" of it.
func several(word string, of []string) string {
	if len(of) > 1 {
		return word + "s"
	}
	return word
}

func toBeExecuted(names []string) string {
	return several("Function", names) + " " + strings.Join(names, ", ") + " to be executed."
}

func callAll(c *states.Call, keys []string, kw *payload.Map) (states.Done, error) {
	var failures, successes []string
	changes := payload.NewMap(0)
	for _, key := range keys {
		v, err := callListed(c, function(key), kw.Value(key))
		var wrong *loader.InvocationError
		var argument *loader.ArgumentError
		switch {
		case errors.As(err, &wrong), errors.As(err, &argument):
			failures = append(failures, "'"+key+"' failed: "+loader.Message(err))
		case err != nil:
			return states.Done{}, err
		case succeeded(v):
			changes.Set(key, v)
			successes = append(successes, key+": "+commentOf(v, python.Str(v), "Success"))
		case v == false:
			failures = append(failures, "'"+key+"': False")
		default:
			failures = append(failures, "'"+key+"' failed: "+commentOf(v, "", "(error message N/A)"))
		}
	}
	return states.Done{Result: len(failures) == 0, Comment: strings.Join(append(failures, successes...), ", "),
		Changes: changes}, nil
}

// commentOf is the comment in a map, or what stands for one that has none; of another value it is the text.
func commentOf(v any, text, otherwise string) string {
	m, ok := v.(*payload.Map)
	if !ok {
		return text
	}
	if comment, ok := m.Get("comment"); ok {
		return python.Str(comment)
	}
	return otherwise
}

// callListed calls a function with a list of arguments: maps in it are arguments by their names.
func callListed(c *states.Call, name string, given any) (any, error) {
	list, err := listOf(given)
	if err != nil {
		return nil, err
	}
	f, _ := c.Registry().Lookup(name)
	var args []any
	named, kw := payload.NewMap(0), payload.NewMap(0)
	for i := len(list) - 1; i >= 0; i-- { // of two with one name the first counts
		m, isMap := list[i].(*payload.Map)
		if !isMap {
			continue
		}
		for key, v := range m.All() {
			if required(f, key) {
				named.Set(key, v)
			} else {
				kw.Set(key, v)
			}
		}
	}
	for _, v := range list {
		if _, isMap := v.(*payload.Map); !isMap {
			args = append(args, v)
		}
	}
	return callWith(c, f, args, named, kw)
}

// callWith puts required arguments that have names behind those that have none, and calls the function if none is
// missing.
func callWith(c *states.Call, f *loader.Func, args []any, named, kw *payload.Map) (any, error) {
	needed := 0
	for _, p := range positional(f) {
		if !p.Required {
			continue
		}
		needed++
		if v, ok := named.Get(p.Name); ok {
			args = append(args, v)
		}
	}
	var missing []string
	for i, p := range positional(f) {
		if i >= len(args) && p.Required && !kw.Has(p.Name) {
			missing = append(missing, p.Name)
		}
	}
	if len(missing) > 0 {
		return nil, loader.InvocErr("Missing arguments: %s", strings.Join(missing, ", "))
	}
	return c.Salt(f.Name, kw, args...)
}

// positional are the parameters of a function that can be given without their names.
func positional(f *loader.Func) []loader.Param {
	if f.ByName {
		return nil
	}
	return f.Params
}

func required(f *loader.Func, name any) bool {
	for _, p := range positional(f) {
		if p.Name == name {
			return p.Required
		}
	}
	return false
}

// listOf are the arguments of a function. Unlike Salt: a text or a map is one argument, and not its letters or its keys.
func listOf(v any) ([]any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case []any:
		return x, nil
	case string, *payload.Map:
		return []any{x}, nil
	}
	return nil, &loader.ArgumentError{Message: "Value after * must be an iterable, not " + python.Type(v)}
}
