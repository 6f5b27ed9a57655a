package alternatives_test

import (
	"os"
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt compares with 3006, the last release that has the module.
func TestAsSalt(t *testing.T) {
	if _, err := os.Stat("/var/lib/dpkg/alternatives"); err != nil {
		t.Skip("update-alternatives is not here, or keeps its files elsewhere")
	}
	if statetest.Apart(t) {
		statetest.Compare(t, "testdata/trees_3006.json", map[string]string{
			"set to what begins alike": "no part of a path counts",
			"automatic, unknown":       "it fails",
			"a name that is an option": "it is refused",
		})
	}
}
