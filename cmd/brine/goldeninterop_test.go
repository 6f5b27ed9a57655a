//go:build interop

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGoldenBesideSalt runs the recorded cases of salt and salt-run with brine's tools against a master and minions of
// each installed Salt (.ci/salt-peers).
func TestGoldenBesideSalt(t *testing.T) {
	cache := os.Getenv("BRINE_SALT_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(base, "brine", "salt")
	}
	for _, release := range []string{"3008", "3007", "3006"} {
		t.Run(release, func(t *testing.T) {
			if !isFile(filepath.Join(cache, release, ".complete")) {
				t.Skipf("salt %s is not installed", release)
			}
			runGolden(t, filepath.Join(cache, release, "bin"), "salt", "salt-run")
		})
	}
}
