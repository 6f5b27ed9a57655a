package module_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt compares with what Salt 3008.3 answered.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"plurals":         "several functions are functions, and not functionTrue",
		"odd arguments":   "a text or a map in the place of a list is one argument; optional arguments need no names",
		"named leftovers": "arguments that are not used are told",
	})
}
