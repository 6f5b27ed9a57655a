package grains

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// which finds a program as Salt does: on PATH, then in the usual directories; "" when it is nowhere.
func which(name string) string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	dirs = append(dirs, "/sbin", "/bin", "/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin")
	for _, d := range dirs {
		path := filepath.Join(d, name)
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// runProgram runs a program with an English locale. ok is exit code 0.
func runProgram(ctx context.Context, name string, args ...string) (text string, ok bool) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "LANGUAGE=C")
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	return strings.TrimRight(out.String(), " \t\r\n"), err == nil
}
