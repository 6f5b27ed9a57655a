package archive_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt: the state and the functions of archive answer as those of Salt 3008.3.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{})
}
