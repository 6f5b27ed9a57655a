package sshmod_test

import (
	"testing"

	"brine/modules"
	"brine/modules/execution/sshmod"
	"brine/modules/modtest"
)

// TestRecorded: the function answers as Salt 3008.3 does, and asks ssh-keyscan the same.
func TestRecorded(t *testing.T) {
	modtest.Fakes(t)
	modtest.Recorded(t, func(t *testing.T, _ string) (*modules.Env, map[string]string) {
		env := modtest.Env(t, nil)
		if err := env.Registry.Offer(sshmod.Module()); err != nil {
			t.Fatal(err)
		}
		return env, nil
	})
}
