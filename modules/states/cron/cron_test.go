package cron_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt compares with the answers of Salt 3008.3.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"table from a file that is refused step 2": "the comment names a file at random",
		"table from a file that is refused step 3": "the comment names a file at random",
	})
}
