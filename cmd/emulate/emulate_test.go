package emulate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/tool"
)

// TestKeyIn: the directory of the key is made. The next start finds the same key.
func TestKeyIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	first, err := keyIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v, %v", info, err)
	}
	if again, err := keyIn(dir); err != nil || again.Public().PEM() != first.Public().PEM() {
		t.Errorf("another key, %v", err)
	}
	if _, err := keyIn(filepath.Join(dir, "emulate.pem")); err == nil {
		t.Error("a file is no directory")
	}
}

// TestRefused: an invalid prefix for ids, or a fleet without minions, is refused before anything is made or
// sent.
func TestRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	for _, words := range [][]string{{"--prefix", "../x"}, {"--prefix", "a/b"}, {"--prefix", "a\nb"},
		{"--minions", "0"}} {
		var out bytes.Buffer
		c := &tool.Call{Prog: "emulate", Args: append(words, "--key-dir", dir), Stdout: &out, Stderr: &out}
		if code := c.Finish(Run(c)); code != tool.ExitUsage || !strings.Contains(out.String(), "brine emulate: ") {
			t.Errorf("%q: exit %d, %s", words, code, out.String())
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a key was made")
	}
}
