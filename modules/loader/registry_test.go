package loader_test

import (
	"slices"
	"testing"

	"brine/modules/loader"
	"brine/wire/payload"
)

func TestLimit(t *testing.T) {
	of := func(file, name, fun string) loader.Module {
		return loader.Module{File: file, Name: name, Funcs: func() []loader.Func {
			return []loader.Func{loader.Fn(fun, func(*loader.Call, struct{}) (any, error) { return true, nil }, "")}
		}}
	}
	for _, tt := range []struct {
		name string
		opts *payload.Map
		want []string
	}{
		{"nothing", payload.NewMap(0), []string{"cmd.run", "grains.get", "test.ping"}},
		{"by name", payload.M("disable_modules", []any{"cmd", "other"}), []string{"grains.get", "test.ping"}},
		{"by file", payload.M("disable_modules", []any{"cmdmod"}), []string{"grains.get", "test.ping"}},
		{"whitelist", payload.M("whitelist_modules", []any{"test", "cmd"}), []string{"cmd.run", "test.ping"}},
		{"both", payload.M("whitelist_modules", []any{"test", "cmd"}, "disable_modules", []any{"cmd"}),
			[]string{"test.ping"}},
		{"a text", payload.M("disable_modules", "cmd, test"), []string{"grains.get"}},
		{"of another kind", payload.M("disable_runners", []any{"cmd"}), []string{"cmd.run", "grains.get", "test.ping"}},
	} {
		reg := loader.NewRegistry()
		reg.Offer(loader.Listed{of("cmdmod", "cmd", "run"), of("grains", "", "get"), of("test", "", "ping")})
		reg.Limit(loader.LimitsOf(tt.opts, "modules"))
		if got := reg.Names(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
