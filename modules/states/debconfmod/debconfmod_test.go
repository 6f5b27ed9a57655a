package debconfmod_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// differences are trees in which this program does on purpose what Salt does not. docs/differences.md tells why.
var differences = map[string]string{}

// TestAsSalt runs trees that are private to it.
func TestAsSalt(t *testing.T) { statetest.Compare(t, "testdata/trees_3008.json", differences) }
