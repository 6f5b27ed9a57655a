package archive_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt: the state and the functions of archive answer as those of Salt 3008.3.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"salt source hash wrong step 2": "the archive is not kept, and the return is that of the state",
		"hash update step 5":            "Salt 3008.3 keeps the new sum in test mode, and forgets the archive then",
		"hash update step 6":            "the same",
		"user step 5":                   "Salt 3008.3 fails in test mode where owners would change",
	})
}
