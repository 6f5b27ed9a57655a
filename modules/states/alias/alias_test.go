package alias_test

import (
	"testing"

	"brine/modules/states/statetest"
)

func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"a target that is a line":     "it is refused",
		"functions step 1":            "an empty line is no alias",
		"lines without a target stay": "Salt empties them",
		"a name that is a line":       "it is refused",
	})
}
