//go:build interop

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/session"
)

// TestGoldenBesideSalt runs the recorded cases of salt and salt-run with brine's tools. Master and minions are
// of the installed Salt 3008 (.ci/salt-peers), and of the releases that BRINE_GOLDEN_RELEASES names.
func TestGoldenBesideSalt(t *testing.T) {
	cache := os.Getenv("BRINE_SALT_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(base, "brine", "salt")
	}
	for _, release := range append([]string{"3008"}, strings.Fields(os.Getenv("BRINE_GOLDEN_RELEASES"))...) {
		t.Run(release, func(t *testing.T) {
			if !session.IsFile(filepath.Join(cache, release, ".complete")) {
				t.Skipf("salt %s is not installed", release)
			}
			runGolden(t, filepath.Join(cache, release, "bin"), "salt", "salt-run")
		})
	}
}
