package runners_test

import (
	"context"
	"testing"

	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/runners"
	"brine/wire/payload"
)

// TestFunArgsOfLoads: events tell the arguments of a wheel function that were fields of a load as Salt's format_call
// sorts them.
func TestFunArgsOfLoads(t *testing.T) {
	nothing := func(*loader.Call, loader.Args) (any, error) { return nil, nil }
	reg := loader.NewRegistry()
	if err := reg.Register(
		loader.Func{Name: "key.list", Params: []loader.Param{loader.Req("match")}, Run: nothing},
		loader.Func{Name: "key.accept", Params: []loader.Param{loader.Req("match"), loader.Opt("include_rejected",
			false),
			loader.Opt("include_denied", false)}, Run: nothing},
		loader.Func{Name: "key.list_all", Run: nothing},
		loader.Func{Name: "key.any", Params: []loader.Param{loader.Req("b"), loader.Opt("a", nil)}, KWArgs: true,
			Run: nothing},
	); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		fun  string
		args []any
		kw   *payload.Map
		low  bool
		want string
	}{
		{"key.list", nil, payload.M("match", "accepted"), true, `["accepted"]`},
		{"key.list", nil, payload.M("match", "accepted"), false, `[{"match": "accepted"}]`},
		{"key.list_all", nil, nil, true, `[]`},
		{"key.accept", nil, payload.M("include_denied", true, "match", "web1"), true,
			`["web1", {"include_rejected": false, "include_denied": true}]`},
		{"key.accept", []any{"web1"}, payload.M(), true,
			`["web1", {"include_rejected": false, "include_denied": false}]`},
		{"key.any", nil, payload.M("c", 3, "b", 2), true, `[2, {"a": null, "c": 3}]`},
		{"key.any", []any{int64(1), int64(2)}, payload.M(), false, `[1, 2]`},
	} {
		var told []string
		runners.Run(context.Background(), &loader.Env{Registry: reg},
			runners.Request{Kind: runners.KindWheel, Fun: tt.fun, Args: tt.args, KW: tt.kw, JID: jidA, Low: tt.low},
			func(_ string, data *payload.Map) { told = append(told, outputters.JSON(data.Value("fun_args"))) })
		if len(told) != 2 || told[0] != tt.want || told[1] != tt.want {
			t.Errorf("%s %v %v: told %q, want %s", tt.fun, tt.args, tt.kw, told, tt.want)
		}
	}
}
