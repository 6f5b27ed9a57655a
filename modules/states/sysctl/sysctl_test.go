package sysctl_test

import (
	"testing"

	"brine/modules/states/statetest"
)

func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"kept wrongly but set":     "test mode says what a run would do",
		"a name that is an option": "it is refused",
		"a value that is a line":   "it is refused",
		"unreadable file":          "test mode says what a run would do",
	})
}
