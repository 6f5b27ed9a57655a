package host_test

import (
	"testing"

	"brine/modules/states/statetest"
)

func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"comment would change":     "test mode says so",
		"wrong address":            "it is refused",
		"a name that is a line":    "it is refused",
		"a comment that is a line": "it is refused",
		"gone in part":             "test mode says so",
	})
}
