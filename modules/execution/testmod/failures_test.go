package testmod_test

import (
	"slices"
	"testing"

	"brine/modules/execution/testmod"
	"brine/modules/modtest"
)

// TestDeprecationWarning: the two warnings of Salt stand in the log.
func TestDeprecationWarning(t *testing.T) {
	env, log := modtest.Env(t, nil, testmod.Functions(testmod.Options{})), &modtest.Log{}
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
