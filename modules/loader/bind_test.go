package loader_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/modules/loader"
	"brine/wire/payload"
)

func fn(name string, varargs, kwargs bool, params ...loader.Param) *loader.Func {
	return &loader.Func{Name: name, Params: params, VarArgs: varargs, KWArgs: kwargs}
}

func TestBindWords(t *testing.T) {
	ping := fn("test.ping", false, false)
	echo := fn("test.echo", false, false, loader.Req("text"))
	setval := fn("grains.setval", false, false, loader.Req("key"), loader.Req("val"), loader.Opt("destructive", false))
	three := fn("m.f", false, false, loader.Req("a"), loader.Req("b"), loader.Req("c"))
	varargs := fn("m.v", true, true, loader.Req("a"))
	opt := fn("m.o", false, false, loader.Opt("a", nil))
	renamed := &loader.Func{Name: "test.true", PyName: "true_"}
	for _, tt := range []struct {
		name string
		f    *loader.Func
		args []any
		kw   *payload.Map
		want string
	}{
		{"none wanted, one given", ping, []any{"foo"}, nil, "ping() takes 0 positional arguments but 1 was given"},
		{"none wanted, two given", ping, []any{1, 2}, nil, "ping() takes 0 positional arguments but 2 were given"},
		{"one wanted", echo, []any{1, 2, 3}, nil, "echo() takes 1 positional argument but 3 were given"},
		{"range", setval, []any{1, 2, 3, 4}, nil, "setval() takes from 2 to 3 positional arguments but 4 were given"},
		{"optional only", opt, []any{1, 2}, nil, "o() takes from 0 to 1 positional arguments but 2 were given"},
		{"one missing", echo, nil, nil, "echo() missing 1 required positional argument: 'text'"},
		{"two missing", setval, nil, nil, "setval() missing 2 required positional arguments: 'key' and 'val'"},
		{"three missing", three, nil, nil, "f() missing 3 required positional arguments: 'a', 'b', and 'c'"},
		{"middle missing", three, []any{1}, payload.M("c", 3), "f() missing 1 required positional argument: 'b'"},
		{"twice", echo, []any{1}, payload.M("text", 2), "echo() got multiple values for argument 'text'"},
		{"unexpected", echo, []any{1}, payload.M("nope", 2), "echo() got an unexpected keyword argument 'nope'"},
		{"unexpected before count", ping, []any{1}, payload.M("nope", 2),
			"ping() got an unexpected keyword argument 'nope'"},
		{"varargs missing", varargs, nil, payload.M("x", 1), "v() missing 1 required positional argument: 'a'"},
		{"python name", renamed, []any{1}, nil, "true_() takes 0 positional arguments but 1 was given"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := loader.Bind(tt.f, tt.args, tt.kw)
			var arg *loader.ArgumentError
			if !errors.As(err, &arg) || err.Error() != tt.want {
				t.Errorf("Bind(%v, %v): got %v, want %s", tt.args, tt.kw, err, tt.want)
			}
		})
	}
}

func TestBindValues(t *testing.T) {
	f := fn("m.v", true, true, loader.Req("a"), loader.Opt("b", "def"))
	got, err := loader.Bind(f, []any{int64(1), int64(2), int64(3)}, payload.M("x", "y"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Get("a") != int64(1) || got.Get("b") != int64(2) || !cmp.Equal(got.Rest, []any{int64(3)}) ||
		got.KW.Str("x") != "y" {
		t.Errorf("bound: %v %v %v %v", got.Get("a"), got.Get("b"), got.Rest, got.KW)
	}
	got, err = loader.Bind(f, nil, payload.M("a", nil))
	if err != nil || got.Get("a") != nil || got.Str("b") != "def" {
		t.Errorf("defaults: %v, a=%v b=%v", err, got.Get("a"), got.Get("b"))
	}
}

func TestLoadArgs(t *testing.T) {
	plain := fn("m.p", false, false, loader.Req("a"), loader.Opt("b", nil))
	open := fn("m.k", true, true)
	data := payload.M("fun", "m.k", "jid", "1")
	for _, tt := range []struct {
		name    string
		f       *loader.Func
		list    []any
		args    []any
		kw      *payload.Map
		wantErr string
	}{
		{"positional", plain, []any{int64(1), "x"}, []any{int64(1), "x"}, payload.NewMap(0), ""},
		{"marked map", plain, []any{payload.M("b", "x", "__kwarg__", true)}, nil, payload.M("b", "x"), ""},
		{"unmarked map", plain, []any{payload.M("b", "x")}, []any{payload.M("b", "x")}, payload.NewMap(0), ""},
		{"text keyword", plain, []any{"a=5"}, nil, payload.M("a", int64(5)), ""},
		{"text with ==", plain, []any{"a==5"}, []any{"a==5"}, payload.NewMap(0), ""},
		{"unknown", plain, []any{payload.M("x", int64(1), "y", payload.M("k", "v"), "__kwarg__", true)}, nil, nil,
			"The following keyword arguments are not valid: x=1, y={'k': 'v'}"},
		{"unknown text", plain, []any{"foo=bar"}, nil, nil, "The following keyword arguments are not valid: foo=bar"},
		{"publication fields", open, []any{"q=1"}, nil, payload.M("q", int64(1), "__pub_fun", "m.k", "__pub_jid", "1"),
			""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args, kw, err := loader.LoadArgs(tt.f, tt.list, data)
			if tt.wantErr != "" {
				var invoc *loader.InvocationError
				if !errors.As(err, &invoc) || err.Error() != tt.wantErr {
					t.Fatalf("got %v, want %s", err, tt.wantErr)
				}
				return
			}
			if err != nil || !payload.Equal(args, tt.args) || !kw.Equal(tt.kw) {
				t.Errorf("got %v %v %v, want %v %v", args, kw, err, tt.args, tt.kw)
			}
		})
	}
}

func TestRegisterRefuses(t *testing.T) {
	run := func(*loader.Call, loader.Args) (any, error) { return nil, nil }
	for _, f := range []loader.Func{
		{Name: "nodot", Run: run},
		{Name: "m.nobody"},
		{Name: "m.twice", Run: run, Params: []loader.Param{loader.Req("a"), loader.Req("a")}},
		{Name: "m.order", Run: run, Params: []loader.Param{loader.Opt("a", 1), loader.Req("b")}},
		{Name: "m.taken", Run: run},
	} {
		reg := loader.NewRegistry()
		if err := reg.Register(loader.Func{Name: "m.taken", Run: run}); err != nil {
			t.Fatal(err)
		}
		if err := reg.Register(f); err == nil {
			t.Errorf("Register(%s) was accepted", f.Name)
		}
	}
}

// TestMisspeltArgument: a function that reads a name it does not declare fails, whatever it makes of it.
func TestMisspeltArgument(t *testing.T) {
	reg := loader.NewRegistry()
	ok := func(_ *loader.Call, a loader.Args) (any, error) { return a.Str("name"), nil }
	wrong := func(_ *loader.Call, a loader.Args) (any, error) { return a.Bool("namme") || a.Str("naem") == "", nil }
	if err := reg.Register(loader.Func{Name: "x.ok", Params: []loader.Param{loader.Req("name")}, Run: ok},
		loader.Func{Name: "x.wrong", Params: []loader.Param{loader.Req("name")}, Run: wrong}); err != nil {
		t.Fatal(err)
	}
	env := &loader.Env{Registry: reg}
	for _, tt := range []struct{ fun, want string }{
		{"x.ok", ""}, {"x.wrong", `modules: x.wrong reads an argument "namme" that it does not declare`},
	} {
		v, err := loader.NewCall(t.Context(), env, "x.top", nil).Call(tt.fun, []any{"n"}, nil)
		if tt.want == "" && (err != nil || v != "n") || tt.want != "" && (err == nil || err.Error() != tt.want) {
			t.Errorf("%s: got %v, %v, want %q", tt.fun, v, err, tt.want)
		}
	}
}
