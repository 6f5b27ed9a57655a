//go:build interop

package mine_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	"brine/modules/modtest"

	"github.com/google/go-cmp/cmp"
)

// TestRecorded: an installed Salt 3008 still answers what is recorded.
func TestRecorded(t *testing.T) {
	python := modtest.SaltProgram(t, "3008", "python")
	all := recorded(t)
	asked := all
	asked.Asks = append([]question(nil), all.Asks...)
	for i := range asked.Asks {
		asked.Asks[i].Answer = nil
	}
	in, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/ask.py", t.TempDir())
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	var answers []json.RawMessage
	if err == nil {
		err = json.Unmarshal(out, &answers)
	}
	if err != nil || len(answers) != len(all.Asks) {
		t.Fatalf("%d answers to %d questions, %v", len(answers), len(all.Asks), err)
	}
	for i, q := range all.Asks {
		if diff := cmp.Diff(plain(value(t, q.Answer)), plain(value(t, answers[i]))); diff != "" {
			t.Errorf("%s asks %s of %s (-recorded +Salt):\n%s", q.Load.ID, q.Load.Fun, q.Load.Tgt, diff)
		}
	}
}
