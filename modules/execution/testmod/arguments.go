package testmod

import (
	"brine/modules/loader"
	"brine/modules/text/pytext"
	"brine/wire/payload"
)

// arguments are the functions that show their own arguments.
func arguments() []loader.Func {
	return []loader.Func{
		{Name: "test.kwarg", KWArgs: true, Run: kwarg, Doc: `Give back the keyword arguments, the publication's fields included.

CLI Example:

    salt '*' test.kwarg num=1 txt="two" env='{a: 1, b: "hello"}'`},
		{Name: "test.arg", VarArgs: true, KWArgs: true, Run: arg, Doc: `Give back positional and keyword arguments.

CLI Example:

    salt '*' test.arg 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'`},
		{Name: "test.arg_type", VarArgs: true, KWArgs: true, Run: argType, Doc: `Name the type of every argument.

CLI Example:

    salt '*' test.arg_type 1 "two" 3.1 txt="hello"`},
		{Name: "test.arg_repr", VarArgs: true, KWArgs: true, Run: argRepr, Doc: `Show the arguments as Python writes them.

CLI Example:

    salt '*' test.arg_repr 1 "two" 3.1 txt="hello"`},
		{Name: "test.arg_clean", VarArgs: true, KWArgs: true, Run: argClean, Doc: `Like test.arg, without the publication's fields.

CLI Example:

    salt '*' test.arg_clean 1 "two" 3.1 txt="hello"`},
		{Name: "test.cross_test", Params: []loader.Param{loader.Req("func"), loader.Opt("args", nil)}, Run: crossTest,
			Doc: `Call another function with a list of positional arguments.

CLI Example:

    salt '*' test.cross_test test.echo '[text]'`},
		{Name: "test.try", PyName: "try_", Params: []loader.Param{loader.Req("module"), loader.Opt("return_try_exception", false)},
			KWArgs: true, Run: try, Doc: `Call another function with keyword arguments. A failure gives None, or the failure itself with
return_try_exception=True.

CLI Example:

    salt '*' test.try test.echo text=hello`},
	}
}

func kwarg(_ *loader.Call, a loader.Args) (any, error) { return a.KW, nil }

func arg(_ *loader.Call, a loader.Args) (any, error) { return shape(a.Rest, a.KW), nil }

func argClean(_ *loader.Call, a loader.Args) (any, error) { return shape(a.Rest, a.UserKW()), nil }

func shape(args []any, kw *payload.Map) *payload.Map {
	return payload.M("args", append([]any{}, args...), "kwargs", kw)
}

func argType(_ *loader.Call, a loader.Args) (any, error) {
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

func typeText(v any) string { return "<class '" + pytext.Type(v) + "'>" }

func argRepr(_ *loader.Call, a loader.Args) (any, error) {
	return payload.M("args", pytext.Tuple(a.Rest), "kwargs", pytext.Repr(a.KW)), nil
}

func crossTest(c *loader.Call, a loader.Args) (any, error) {
	name := a.Str("func")
	list, err := spread(name, a.Get("args"))
	if err != nil {
		return nil, err
	}
	return c.Call(name, list, nil)
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
		"() argument after * must be an iterable, not " + pytext.Type(v)}
}

func try(c *loader.Call, a loader.Args) (any, error) {
	v, err := c.Call(a.Str("module"), nil, a.KW)
	if err == nil {
		return v, nil
	}
	if a.Bool("return_try_exception") {
		return err.Error(), nil
	}
	return nil, nil
}
