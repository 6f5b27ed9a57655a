package pkg_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// differences are trees in which this program does on purpose what Salt does not. docs/differences.md tells why.
var differences = map[string]string{
	"aggregate":              "Salt loses the package of the first state",
	"no repository step 1":   "Salt shows an exception of Python in test mode",
	"names that are options": "TestNamesStartNothing",
}

// TestAsSalt runs trees in which apt installs and removes packages of a repository of its own.
func TestAsSalt(t *testing.T) { statetest.Compare(t, "testdata/trees_3008.json", differences) }
