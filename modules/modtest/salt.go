package modtest

import (
	"os"
	"path/filepath"
	"testing"
)

// SaltProgram is the path of a program of an installed Salt release (.ci/salt-peers); without one the test is
// skipped.
func SaltProgram(t testing.TB, release, program string) string {
	t.Helper()
	cache := os.Getenv("BRINE_SALT_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Skip(err)
		}
		cache = filepath.Join(base, "brine", "salt")
	}
	path := filepath.Join(cache, release, "bin", program)
	if _, err := os.Stat(path); err != nil {
		t.Skip("no Salt ", release, " here: ", err)
	}
	return path
}
