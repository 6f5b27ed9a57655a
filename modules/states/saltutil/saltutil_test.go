package saltutil_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt compares with what Salt 3008.3 answered.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{})
}
