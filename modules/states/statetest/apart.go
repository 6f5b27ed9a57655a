package statetest

import (
	"os"
	"os/exec"
	"testing"
)

// apart is set where a test runs in a mount namespace of its own.
const apart = "BRINE_TEST_APART"

// Apart starts a test once more, in a process with a mount namespace of its own, where trees may mount folders of
// theirs over those of the host: one tree after another, and what they mount is gone with the process. It tells whether
// the caller is that process. The trees are recorded by unshare --mount python record.py.
func Apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(apart) != "" {
		return true
	}
	unshare := []string{"--mount", "--propagation", "private"}
	if err := exec.CommandContext(t.Context(), "unshare", append(unshare, "true")...).Run(); err != nil {
		t.Skipf("no mount namespace here: %v", err)
	}
	own := []string{os.Args[0], "-test.run", "^" + t.Name() + "$", "-test.parallel", "1"}
	cmd := exec.CommandContext(t.Context(), "unshare", append(unshare, own...)...)
	cmd.Env = append(os.Environ(), apart+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}
