package pkgrepo_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// differences are trees in which this program does on purpose what Salt does not. docs/differences.md tells why.
var differences = map[string]string{
	"no key and no trust step 2": "Salt tells of a type of Python",
	"no key and no trust step 3": "the same",
}

// TestAsSalt runs trees that are private to it.
func TestAsSalt(t *testing.T) { statetest.Compare(t, "testdata/trees_3008.json", differences) }
