package locale_test

import (
	"testing"

	"brine/modules/states/statetest"
)

func TestAsSalt(t *testing.T) {
	if statetest.Apart(t) {
		statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
			"a locale that is a line step 2": "it is refused",
			"a locale that is an option":     "it is refused",
		})
	}
}
