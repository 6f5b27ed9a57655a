package runners_test

import (
	"context"
	"testing"

	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/modules/runners"
	"brine/wire/payload"
)

// TestFunArgsOfLoads: events tell the arguments of a wheel function that were fields of a load as Salt's format_call
// sorts them.
func TestFunArgsOfLoads(t *testing.T) {
	type match struct {
		Match any `arg:"match"`
	}
	type accepted struct {
		Match    any `arg:"match"`
		Rejected any `arg:"include_rejected=False"`
		Denied   any `arg:"include_denied=False"`
	}
	type other struct {
		B  any          `arg:"b"`
		A  any          `arg:"a=None"`
		KW *payload.Map `arg:"**kwargs"`
	}
	reg := loader.NewRegistry()
	reg.Offer(modtest.Source(
		loader.Fn("key.list", func(*loader.Call, match) (any, error) { return nil, nil }, ""),
		loader.Fn("key.accept", func(*loader.Call, accepted) (any, error) { return nil, nil }, ""),
		loader.Fn("key.list_all", func(*loader.Call, struct{}) (any, error) { return nil, nil }, ""),
		loader.Fn("key.any", func(*loader.Call, other) (any, error) { return nil, nil }, ""),
	))
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
