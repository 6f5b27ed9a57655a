package mount_test

import (
	"os"
	"os/exec"
	"testing"

	"brine/modules/states/statetest"
)

// inNamespace runs a test once more in a process whose mounts nobody else sees, and tells whether this is that process.
func inNamespace(t *testing.T) bool {
	t.Helper()
	const mark = "BRINE_T_OWN_MOUNTS"
	if os.Getenv(mark) != "" {
		return true
	}
	try := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private", "mount", "-t", "tmpfs",
		"brine", t.TempDir())
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("mounts of one's own are not possible here: %v: %s", err, out)
	}
	own := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private", os.Args[0], "-test.run",
		"^"+t.Name()+"$")
	own.Env = append(os.Environ(), mark+"=1")
	if out, err := own.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// TestAsSalt compares with what Salt 3008.3 answered.
func TestAsSalt(t *testing.T) {
	if inNamespace(t) {
		statetest.Compare(t, "testdata/trees_3008.json", map[string]string{})
	}
}
