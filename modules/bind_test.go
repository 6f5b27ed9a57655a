package modules_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/modules"
	"brine/wire/payload"
)

func fn(name string, varargs, kwargs bool, params ...modules.Param) *modules.Func {
	return &modules.Func{Name: name, Params: params, VarArgs: varargs, KWArgs: kwargs}
}

func TestBindWords(t *testing.T) {
	ping := fn("test.ping", false, false)
	echo := fn("test.echo", false, false, modules.Req("text"))
	setval := fn("grains.setval", false, false, modules.Req("key"), modules.Req("val"), modules.Opt("destructive", false))
	three := fn("m.f", false, false, modules.Req("a"), modules.Req("b"), modules.Req("c"))
	varargs := fn("m.v", true, true, modules.Req("a"))
	opt := fn("m.o", false, false, modules.Opt("a", nil))
	renamed := &modules.Func{Name: "test.true", PyName: "true_"}
	for _, tt := range []struct {
		name string
		f    *modules.Func
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
		{"unexpected before count", ping, []any{1}, payload.M("nope", 2), "ping() got an unexpected keyword argument 'nope'"},
		{"varargs missing", varargs, nil, payload.M("x", 1), "v() missing 1 required positional argument: 'a'"},
		{"python name", renamed, []any{1}, nil, "true_() takes 0 positional arguments but 1 was given"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := modules.Bind(tt.f, tt.args, tt.kw)
			var arg *modules.ArgumentError
			if !errors.As(err, &arg) || err.Error() != tt.want {
				t.Errorf("Bind(%v, %v): got %v, want %s", tt.args, tt.kw, err, tt.want)
			}
		})
	}
}

func TestBindValues(t *testing.T) {
	f := fn("m.v", true, true, modules.Req("a"), modules.Opt("b", "def"))
	got, err := modules.Bind(f, []any{int64(1), int64(2), int64(3)}, payload.M("x", "y"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Get("a") != int64(1) || got.Get("b") != int64(2) || !cmp.Equal(got.Rest, []any{int64(3)}) || got.KW.Str("x") != "y" {
		t.Errorf("bound: %v %v %v %v", got.Get("a"), got.Get("b"), got.Rest, got.KW)
	}
	got, err = modules.Bind(f, nil, payload.M("a", nil))
	if err != nil || got.Get("a") != nil || got.Str("b") != "def" {
		t.Errorf("defaults: %v, a=%v b=%v", err, got.Get("a"), got.Get("b"))
	}
}

func TestLoadArgs(t *testing.T) {
	plain := fn("m.p", false, false, modules.Req("a"), modules.Opt("b", nil))
	open := fn("m.k", true, true)
	data := payload.M("fun", "m.k", "jid", "1")
	for _, tt := range []struct {
		name    string
		f       *modules.Func
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
		{"publication fields", open, []any{"q=1"}, nil, payload.M("q", int64(1), "__pub_fun", "m.k", "__pub_jid", "1"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args, kw, err := modules.LoadArgs(tt.f, tt.list, data)
			if tt.wantErr != "" {
				var invoc *modules.InvocationError
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
	run := func(*modules.Call, modules.Args) (any, error) { return nil, nil }
	for _, f := range []modules.Func{
		{Name: "nodot", Run: run},
		{Name: "m.nobody"},
		{Name: "m.twice", Run: run, Params: []modules.Param{modules.Req("a"), modules.Req("a")}},
		{Name: "m.order", Run: run, Params: []modules.Param{modules.Opt("a", 1), modules.Req("b")}},
		{Name: "m.taken", Run: run},
	} {
		reg := modules.NewRegistry()
		if err := reg.Register(modules.Func{Name: "m.taken", Run: run}); err != nil {
			t.Fatal(err)
		}
		if err := reg.Register(f); err == nil {
			t.Errorf("Register(%s) was accepted", f.Name)
		}
	}
}

// TestMisspeltArgument: a function that reads a name it does not declare fails, whatever it makes of it.
func TestMisspeltArgument(t *testing.T) {
	reg := modules.NewRegistry()
	ok := func(_ *modules.Call, a modules.Args) (any, error) { return a.Str("name"), nil }
	wrong := func(_ *modules.Call, a modules.Args) (any, error) { return a.Bool("namme") || a.Str("naem") == "", nil }
	if err := reg.Register(modules.Func{Name: "x.ok", Params: []modules.Param{modules.Req("name")}, Run: ok}, modules.Func{Name: "x.wrong", Params: []modules.Param{modules.Req("name")}, Run: wrong}); err != nil {
		t.Fatal(err)
	}
	env := &modules.Env{Registry: reg}
	for _, tt := range []struct{ fun, want string }{
		{"x.ok", ""}, {"x.wrong", `modules: x.wrong reads an argument "namme" that it does not declare`},
	} {
		v, err := modules.NewCall(t.Context(), env, "x.top", nil).Call(tt.fun, []any{"n"}, nil)
		if tt.want == "" && (err != nil || v != "n") || tt.want != "" && (err == nil || err.Error() != tt.want) {
			t.Errorf("%s: got %v, %v, want %q", tt.fun, v, err, tt.want)
		}
	}
}
