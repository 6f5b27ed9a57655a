package test_test

import (
	"slices"
	"testing"

	"brine/modules/execution/test"
	"brine/modules/loader"
	"brine/modules/modtest"
)

// TestDeprecationWarning: the two warnings of Salt stand in the log.
func TestDeprecationWarning(t *testing.T) {
	env, log := modtest.Env(t, nil), &modtest.Log{}
	env.Registry.Offer(loader.Listed{test.Module()})
	env.Host.Log = log
	if got, _, err := modtest.Call(t, env, "test.deprecation_warning", nil, nil); err != nil || got != true {
		t.Errorf("got %v, %v", got, err)
	}
	want := []string{"WARN DeprecationWarning: This is a test deprecation warning by version.",
		"WARN DeprecationWarning: This is a test deprecation warning by date very far into the future (3000-01-01)."}
	if got := log.Lines(); !slices.Equal(got, want) {
		t.Errorf("log: %q, want %q", got, want)
	}
}
