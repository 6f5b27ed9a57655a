package user_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt compares with the answers of Salt 3008.3.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"hashes that are not made here": "hashes by DES are not made here",
		"options for names":             "a name that useradd would take for an option is an error, and no program is started",
	})
}
