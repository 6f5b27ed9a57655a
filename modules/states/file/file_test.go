package file_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// differs are trees that end otherwise than in Salt, on purpose. docs/differences.md tells of them.
func differs() map[string]string {
	return map[string]string{
		"managed: the source is the destination step 1":               "a traceback in test mode",
		"managed: links that lead nowhere":                            "contents are said to be in their place",
		"managed: links that are replaced by what they lead to":       "the link is said to be right, and is replaced",
		"managed: new_file_diff of a source step 1":                   "a traceback in test mode",
		"managed: a source that has a wrong hash, over a file step 1": "test mode does not look at the hash",
		"managed: a map as contents":                                  "it is written as an OrderedDict",
		"managed: lists of sources with hashes":                       "a traceback",
		"directory: a link that is replaced by a directory step 1":    "test mode says that nothing changes",
	}
}

func TestAsSalt(t *testing.T) { statetest.Compare(t, "testdata/trees_3008.json", differs()) }
