package keyboard_test

import (
	"testing"

	"brine/modules/states/statetest"
)

func TestAsSalt(t *testing.T) {
	if statetest.Apart(t) {
		statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
			"no layout is told":          "no IndexError",
			"no file":                    "no IndexError",
			"a layout that is two words": "it is refused",
			"a layout that is an option": "it is refused",
		})
	}
}
