package virtualenv_mod_test

import (
	"os"
	"path/filepath"
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt: the states and the functions answer as those of Salt 3008.3.
func TestAsSalt(t *testing.T) {
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("no Python here")
	}
	if found, _ := filepath.Glob("/usr/lib/python3*/ensurepip"); len(found) == 0 {
		t.Skip("no venv with pip here")
	}
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"no such bin step 1": "the version of virtualenv is that of the program, which is asked first",
	})
}
