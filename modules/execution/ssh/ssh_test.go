package ssh_test

import (
	"testing"

	"brine/modules/execution/ssh"
	"brine/modules/loader"
	"brine/modules/modtest"
)

// TestRecorded: the function answers as Salt 3008.3 does, and asks ssh-keyscan the same.
func TestRecorded(t *testing.T) {
	modtest.Fakes(t)
	modtest.Recorded(t, func(t *testing.T, _ string) (*loader.Env, map[string]string) {
		env := modtest.Env(t, nil)
		env.Registry.Offer(loader.Table{ssh.Module})
		return env, nil
	})
}

// TestNoOption: a name that ssh-keyscan would take for an option starts no program.
func TestNoOption(t *testing.T) {
	modtest.Fakes(t)
	env := modtest.Env(t, nil)
	env.Registry.Offer(loader.Table{ssh.Module})
	modtest.StartsNothing(t, env, "ssh.recv_known_host_entries", "-f/etc/shadow")
}
