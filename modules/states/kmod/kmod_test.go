package kmod_test

import (
	"bytes"
	"os"
	"testing"

	"brine/modules/states/statetest"
)

func TestAsSalt(t *testing.T) {
	if _, err := os.Stat("/lib/modules"); err != nil {
		if known, _ := os.ReadFile("/proc/filesystems"); !bytes.Contains(known, []byte("\toverlay\n")) {
			t.Skip("there is no folder for modules of the kernel, and none can be laid over")
		}
	}
	if statetest.Apart(t) {
		statetest.Compare(t, "testdata/trees_3008.json", map[string]string{
			"unavailable, in test mode":  "test mode says so",
			"a name that begins alike":   "it stays",
			"a module that is an option": "it is refused",
		})
	}
}
