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
	type given struct {
		A    any          `arg:"a"`
		B    string       `arg:"b=def"`
		Rest []any        `arg:"*rest"`
		KW   *payload.Map `arg:"**kw"`
	}
	var got given
	f := loader.Fn("m.v", func(_ *loader.Call, a given) (any, error) {
		got = a
		return nil, nil
	}, "")
	call := func(args []any, kw *payload.Map) {
		t.Helper()
		bound, err := loader.Bind(&f, args, kw)
		if err == nil {
			_, err = f.Run(nil, bound)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	call([]any{int64(1), int64(2), int64(3)}, payload.M("x", "y"))
	if got.A != int64(1) || got.B != "2" || !cmp.Equal(got.Rest, []any{int64(3)}) || got.KW.Str("x") != "y" {
		t.Errorf("bound: %v", got)
	}
	call(nil, payload.M("a", nil))
	if got.A != nil || got.B != "def" || len(got.Rest) != 0 || got.KW.Len() != 0 {
		t.Errorf("defaults: %v", got)
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

// TestCheck: functions that are declared in a wrong way are told, and are not there.
func TestCheck(t *testing.T) {
	type twice struct {
		A any `arg:"a"`
		B any `arg:"a"`
	}
	type order struct {
		A any `arg:"a=1"`
		B any `arg:"b"`
	}
	type untagged struct{ A any }
	for _, f := range []loader.Func{
		{Name: "m.nobody"},
		{Name: "m.old", Run: func(*loader.Call, loader.Args) (any, error) { return nil, nil }},
		loader.Fn("other.f", func(*loader.Call, struct{}) (any, error) { return nil, nil }, ""),
		loader.Fn("m.", func(*loader.Call, struct{}) (any, error) { return nil, nil }, ""),
		loader.Fn("twice", func(*loader.Call, twice) (any, error) { return nil, nil }, ""),
		loader.Fn("order", func(*loader.Call, order) (any, error) { return nil, nil }, ""),
		loader.Fn("untagged", func(*loader.Call, untagged) (any, error) { return nil, nil }, ""),
		loader.Fn("number", func(*loader.Call, int) (any, error) { return nil, nil }, ""),
	} {
		reg := loader.NewRegistry()
		reg.Offer(loader.Listed{{File: "m", Funcs: func() []loader.Func { return []loader.Func{f} }}})
		if err := reg.Check(); err == nil {
			t.Errorf("%s was accepted", f.Name)
		}
	}
}
