package returnertest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/wire/payload"
)

// Salt is a process of a real Salt that calls its returners (modules/returners/testdata/callsalt.py).
type Salt struct {
	in  io.Writer
	out *bufio.Scanner
}

// releaseWithReturners is the last line of releases whose core has the returners that 3008 has as extensions.
const releaseWithReturners = "3006"

// RealSalt starts one, where Salt and the libraries of its returners are installed (.ci/salt-peers, .ci/store-peers).
func RealSalt(t *testing.T) *Salt {
	t.Helper()
	python := modtest.SaltProgram(t, releaseWithReturners, "python")
	libraries := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(python)))), "returners",
		releaseWithReturners)
	if _, err := os.Stat(filepath.Join(libraries, ".complete")); err != nil {
		t.Skip("no libraries for Salt's returners here (.ci/store-peers): ", err)
	}
	cmd := exec.CommandContext(t.Context(), python, "../testdata/callsalt.py", libraries, t.TempDir())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	s := &Salt{in: in, out: bufio.NewScanner(out)}
	s.out.Buffer(nil, 64<<20)
	return s
}

// Call calls a function of a returner; the answer is the value, or its error.
func (s *Salt) Call(t *testing.T, opts *payload.Map, fun string, args ...any) (any, string) {
	t.Helper()
	line := outputters.JSON(payload.M("opts", opts, "fun", fun, "args", append([]any{}, args...)))
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	if !s.out.Scan() {
		t.Fatalf("Salt ended at %s: %v", line, s.out.Err())
	}
	answer := Parse(t, s.out.Text()).(*payload.Map)
	return answer.Value("value"), answer.Str("error")
}
