package file_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// differs are trees that end otherwise than in Salt, on purpose. docs/differences.md tells of them.
func differs() map[string]string { return map[string]string{} }

func TestAsSalt(t *testing.T) { statetest.Compare(t, "testdata/trees_3008.json", differs()) }
