package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestInterrupt sends signals to salt-key while it waits for an answer to its question.
func TestInterrupt(t *testing.T) {
	for _, tt := range []struct {
		signal os.Signal
		stderr string
	}{
		{os.Interrupt, "\nExiting gracefully on Ctrl-c\n"},
		{syscall.SIGTERM, ""},
	} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			s := newGoldenSite(t)
			ctx, cancel := context.WithTimeout(t.Context(), casePatience)
			defer cancel()
			cmd, err := s.command(ctx, "keys", "salt-key", "-a", "new2")
			if err != nil {
				t.Fatal(err)
			}
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if !readUntil(stdout, "Proceed? [n/Y] ") {
				t.Error("no question")
			}
			if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("exit: %v", err)
			}
			if stderr.String() != tt.stderr {
				t.Errorf("stderr %q, want %q", stderr.String(), tt.stderr)
			}
			if _, err := os.Stat(s.root + "/keys/m/etc/salt/pki/master/minions_pre/new2"); err != nil {
				t.Errorf("the key was changed: %v", err)
			}
		})
	}
}

func readUntil(r io.Reader, end string) bool {
	var seen strings.Builder
	buf := make([]byte, 1)
	for !strings.HasSuffix(seen.String(), end) {
		if _, err := r.Read(buf); err != nil {
			return false
		}
		seen.Write(buf)
	}
	return true
}
