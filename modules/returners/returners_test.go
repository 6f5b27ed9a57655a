package returners_test

import (
	"slices"
	"testing"

	"brine/modules/modtest"
	"brine/modules/returners"
	"brine/modules/returners/returnertest"
	"brine/modules/returners/syslog_return"
	"brine/wire/payload"
)

func TestExpand(t *testing.T) {
	opts := payload.M("multi_returner", []any{"a", "b", "multi_returner"})
	for _, tt := range []struct {
		opts       *payload.Map
		names, out []string
	}{
		{opts, []string{"c", "multi_returner", "a"}, []string{"c", "a", "b"}},
		{opts, []string{"a", "b", "multi_returner"}, []string{"a", "b"}},
		{nil, []string{"c", "multi_returner"}, []string{"c", "multi_returner"}},
		{payload.M("multi_returner", []any{"multi_returner"}), []string{"multi_returner"}, []string{"multi_returner"}},
		{nil, []string{"a", "a"}, []string{"a"}},
	} {
		if got := returners.Expand(tt.names, tt.opts); !slices.Equal(got, tt.out) {
			t.Errorf("Expand(%v, %v) = %v, want %v", tt.names, tt.opts, got, tt.out)
		}
	}
}

func TestMissingReturner(t *testing.T) {
	c, reg := returnertest.Call(t, modtest.Env(t, nil)), returnertest.Registry(syslog_return.Module(returners.Options{}))
	if returners.Has(reg, "nosuch") || !returners.Has(reg, "syslog") {
		t.Error("Has is wrong")
	}
	if err := returners.Return(c, reg, "nosuch", returnertest.Ret()); !returners.Hopeless(err) {
		t.Errorf("nosuch: %v", err)
	}
	if err := returners.Events(c, reg, "syslog", []any{"x"}); !returners.Hopeless(err) {
		t.Errorf("syslog has no event_return: %v", err)
	}
}
