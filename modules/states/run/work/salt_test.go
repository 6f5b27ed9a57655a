package work_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt compares runs with those of Salt 3008.3.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"disabled-function": "Salt 3008.3 leaves a disabled function out of the answer",
		"low step 1":        "Salt raises KeyError for a chunk without __id__",
		"template step 4":   "Salt renders no text to a map in one step of the pipe",
		"template step 5":   "Salt renders no text to a list in one step of the pipe",
	})
}
