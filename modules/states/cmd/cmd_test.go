package cmd_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt compares with what Salt 3008.3 answered.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"stateful one line":        "of one line nothing stays, and not all but its last letter",
		"unknown user of a script": "a user who is not there is an error, and no TypeError",
	})
}
