package logmod_test

import (
	"testing"

	"brine/modules/execution/logmod"
	"brine/modules/loader"
	"brine/modules/modtest"

	"github.com/google/go-cmp/cmp"
)

// TestLevels: each function writes at its level, under the name of Salt's logger.
func TestLevels(t *testing.T) {
	env := modtest.Env(t, nil)
	env.Registry.Offer(loader.Listed{logmod.Module()})
	log := &modtest.Log{}
	env.Host = loader.Host{Log: log}
	for _, name := range []string{"debug", "info", "warning", "error", "critical", "exception"} {
		if v, _, err := modtest.Call(t, env, "log."+name, []any{[]any{"x", int64(1)}}, nil); v != true || err != nil {
			t.Errorf("log.%s: %v, %v", name, v, err)
		}
	}
	want := []string{"DEBUG ['x', 1]", "INFO ['x', 1]", "WARN ['x', 1]", "ERROR ['x', 1]", "ERROR+4 ['x', 1]",
		"ERROR ['x', 1]"}
	if diff := cmp.Diff(want, log.Lines()); diff != "" {
		t.Error(diff)
	}
	for _, name := range log.Names() {
		if name != "salt.loaded.int.module.logmod" {
			t.Errorf("a line of %q", name)
		}
	}
	if len(log.Names()) != len(want) {
		t.Errorf("%d lines have a name", len(log.Names()))
	}
}
