package dnsutil_test

import (
	"testing"

	"brine/modules/execution/dnsutil"
	"brine/modules/loader"
	"brine/modules/modtest"
)

// TestRecorded: the functions answer as Salt 3008.3 does, and ask dig the same. The first word of a call tells whether
// there is a dig, that of testdata/fake.
func TestRecorded(t *testing.T) {
	modtest.Recorded(t, func(t *testing.T, how string) (*loader.Env, map[string]string) {
		if how == "dig" {
			modtest.Fakes(t)
		} else {
			t.Setenv("PATH", t.TempDir())
		}
		env := modtest.Env(t, nil)
		env.Registry.Offer(loader.Table{dnsutil.Module})
		return env, nil
	})
}

// TestNoOption: a name that dig would take for an option, a server or a switch starts no program.
func TestNoOption(t *testing.T) {
	modtest.Fakes(t)
	env := modtest.Env(t, nil)
	env.Registry.Offer(loader.Table{dnsutil.Module})
	for _, name := range []string{"-f/etc/shadow", "@192.0.2.1", "+trace"} {
		modtest.StartsNothing(t, env, "dnsutil.A", name)
	}
}
