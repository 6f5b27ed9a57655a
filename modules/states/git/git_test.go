package git_test

import (
	"testing"

	"brine/modules/host/program"
	"brine/modules/states/statetest"
)

// TestAsSalt: the states and the functions of git answer as those of Salt 3008.3.
func TestAsSalt(t *testing.T) {
	if program.Which("git") == "" {
		t.Skip("no git here")
	}
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"latest-remote step 2":    "Salt 3008.3 fails in test mode where the remote is new",
		"latest-bare step 3":      "Salt 3008.3 puts a full stop behind each letter",
		"config-unset step 2":     "Salt 3008.3 unsets the key and fails with a KeyError",
		"config-unset-all step 2": "the same",
	})
}
