package service_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// TestAsSalt compares with the answers of Salt 3008.3.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{})
}
