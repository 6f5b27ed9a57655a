package ini_manage_test

import (
	"testing"

	"brine/modules/states/statetest"
)

func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
		"a folder step 1": "test mode tells that the file cannot be read",
		"a folder step 2": "no second traceback", "a folder step 3": "no second traceback",
		"options gone by a dictionary":      "its keys are named, in both modes",
		"sections there step 2":             "the state of Salt always fails",
		"a value that sets another option":  "it is refused",
		"a name of two lines":               "it is refused",
		"a name that is a comment":          "it is refused",
		"names that are no text":            "they become texts; Salt empties the file",
		"a list where a dictionary belongs": "no AttributeError",
	})
}
