package masterlink

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReplaceFile: only the owner can read the secret, even if the file existed with wider permissions.
func TestReplaceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "salt_token")
	if err := os.WriteFile(path, []byte("old and longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceFile(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 3 {
		t.Errorf("%v, %v", info, err)
	}
	if err := ReplaceFile(filepath.Join(path, "below"), nil); err == nil {
		t.Error("a file below a file was written")
	}
}
