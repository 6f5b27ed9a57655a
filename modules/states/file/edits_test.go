package file_test

import (
	"testing"

	"brine/modules/states/statetest"
)

// Reasons for which answers differ from Salt's.
const (
	ownWords   = "what is wrong with a pattern is told in other words"
	noNone     = "the text None is not added where there is none"
	foresight  = "test mode tells what a real run would do"
	nameOfTemp = "the name of a temporary file is in it"
)

// TestEditsAsSalt compares the states of what is in files with Salt.
func TestEditsAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/edits_3008.json", map[string]string{
		"replace bad pattern":         ownWords,
		"line replace bad regex":      ownWords,
		"tidied bad regex":            ownWords,
		"append no text":              noNone,
		"prepend no text":             noNone,
		"prepend header there step 1": foresight,
		"decode bad":                  "a text that is no base64 fails in test mode, too, and leaves no empty file",
		"keyvalue both":               "key_values beside key and value is refused, as Salt says it is",
	})
}

// TestDataAsSalt compares file.serialize and file.patch with Salt, and execution functions that edit.
func TestDataAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/serialize_3008.json", map[string]string{
		"patch file step 1":          nameOfTemp,
		"patch template step 1":      nameOfTemp,
		"patch directory step 1":     nameOfTemp,
		"patch not there":            foresight,
		"serialize check_cmd step 2": "Salt's comment has the name of the temporary file",
		"serialize check_cmd fails":  "a file that did not change has no changes",
	})
}
