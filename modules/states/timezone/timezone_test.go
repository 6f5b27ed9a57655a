package timezone_test

import (
	"testing"

	"brine/modules/states/statetest"
)

func TestAsSalt(t *testing.T) {
	if statetest.Apart(t) {
		statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
			"a zone that leads out": "it is refused",
			"no such zone step 3":   "the state of Salt says that it is set",
		})
	}
}
