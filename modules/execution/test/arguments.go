package test

import (
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// arguments are the functions that show their own arguments.
func arguments() []loader.Func {
	return []loader.Func{
		loader.Fn("kwarg", kwarg, "Give back the keyword arguments, the publication's fields included.",
			`test.kwarg num=1 txt="two" env='{a: 1, b: "hello"}'`),
		loader.Fn("arg", arg, "Give back positional and keyword arguments.",
			`test.arg 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'`),
		loader.Fn("arg_type", argType, "Name the type of every argument.", `test.arg_type 1 "two" 3.1 txt="hello"`),
		loader.Fn("arg_repr", argRepr, "Show the arguments as Python writes them.",
			`test.arg_repr 1 "two" 3.1 txt="hello"`),
		loader.Fn("arg_clean", argClean, "Like test.arg, without the publication's fields.",
			`test.arg_clean 1 "two" 3.1 txt="hello"`),
		loader.Fn("cross_test", crossTest, "Call another function with a list of positional arguments.",
			"test.cross_test test.echo '[text]'"),
		loader.Fn("try", try,
			"Call another function with keyword arguments. A failure gives None, or the failure itself with\n"+
				"return_try_exception=True.",
			"test.try test.echo text=hello").Named("try_"),
	}
}

type keywords struct {
	KW *payload.Map `arg:"**kwargs"`
}

func kwarg(_ *loader.Call, a keywords) (*payload.Map, error) { return a.KW, nil }

// anything is whatever a caller gives.
type anything struct {
	Rest []any        `arg:"*args"`
	KW   *payload.Map `arg:"**kwargs"`
}

func arg(_ *loader.Call, a anything) (*payload.Map, error) { return shape(a.Rest, a.KW), nil }

func argClean(_ *loader.Call, a anything) (*payload.Map, error) {
	return shape(a.Rest, loader.CleanKWArgs(a.KW)), nil
}

func shape(args []any, kw *payload.Map) *payload.Map {
	return payload.M("args", append([]any{}, args...), "kwargs", kw)
}

func argType(_ *loader.Call, a anything) (*payload.Map, error) {
	types := []any{}
	for _, v := range a.Rest {
		types = append(types, typeText(v))
	}
	kw := payload.NewMap(a.KW.Len())
	for k, v := range a.KW.All() {
		kw.Set(k, typeText(v))
	}
	return payload.M("args", types, "kwargs", kw), nil
}

func typeText(v any) string { return "<class '" + python.Type(v) + "'>" }

func argRepr(_ *loader.Call, a anything) (*payload.Map, error) {
	return payload.M("args", python.Tuple(a.Rest), "kwargs", python.Repr(a.KW)), nil
}

type crossed struct {
	Func string `arg:"func"`
	Args any    `arg:"args=None"`
}

func crossTest(c *loader.Call, a crossed) (any, error) {
	list, err := spread(a.Func, a.Args)
	if err != nil {
		return nil, err
	}
	return c.Call(a.Func, list, nil)
}

// spread is Python's *args of a value: the elements of a list, the characters of a text, the keys of a map.
func spread(name string, v any) ([]any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case []any:
		return x, nil
	case string:
		var out []any
		for _, r := range x {
			out = append(out, string(r))
		}
		return out, nil
	case *payload.Map:
		return x.Keys(), nil
	}
	return nil, &loader.ArgumentError{Message: "salt.loaded.int.module." + name +
		"() argument after * must be an iterable, not " + python.Type(v)}
}

type tried struct {
	Func          string       `arg:"module"`
	ShowException bool         `arg:"return_try_exception=False"`
	KW            *payload.Map `arg:"**kwargs"`
}

func try(c *loader.Call, a tried) (any, error) {
	v, err := c.Call(a.Func, nil, a.KW)
	if err == nil {
		return v, nil
	}
	if a.ShowException {
		return err.Error(), nil
	}
	return nil, nil
}
