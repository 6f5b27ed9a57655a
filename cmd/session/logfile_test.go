package session

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/tool"
)

// TestPrepareLogFile: if a log file cannot be made, the error has Python's text and the exit code of Salt
// 3008.3.
func TestPrepareLogFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path, want string
		code       int
	}{
		{filepath.Join(dir, "a/b/log"), "", 0},
		{file, "", 0},
		{filepath.Join(file, "log"), "Failed to create path " + file + "/log, is " + file + " a file?", 1},
		{filepath.Join(file, "x/log"), "- [Errno 20] Not a directory: '" + file + "'", 64},
		{dir, `Failed to create path "` + dir + `" - [Errno 21] Is a directory: '` + dir + "'", 64},
		{"/proc/nope/log", `Failed to create path "/proc/nope/log" - [Errno 2] No such file or directory: '/proc/nope'`,
			64},
	} {
		var said bytes.Buffer
		code := (&tool.Call{Stderr: &said}).Finish(prepareLogFile(tt.path, RunningUser()))
		if got := strings.TrimSuffix(said.String(), "\n"); code != tt.code || !strings.HasSuffix(got, tt.want) ||
			(got == "") != (tt.want == "") {
			t.Errorf("%s: got %q, code %d; want %q, %d", tt.path, got, code, tt.want, tt.code)
		}
	}
}
