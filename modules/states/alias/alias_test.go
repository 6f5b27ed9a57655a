package alias_test

import (
	"testing"

	"brine/modules/states/statetest"
)

func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"a target that is a line": "it is refused",
		"a name that is a line":   "it is refused",
	})
}
