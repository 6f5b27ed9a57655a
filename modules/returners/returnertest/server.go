package returnertest

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"brine/wire/loopback"
)

// StartServer starts a server of Debian's, waits until it answers, and ends it with the test.
func StartServer(t testing.TB, ready func() error, program string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip("no "+program+" here (.ci/store-peers): ", err)
	}
	cmd := exec.Command(path, args...)
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
		err := ready()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer: %v", program, err)
		}
	}
}

// FreePort is a port of 127.0.0.1 that nobody else gets until the test is over.
func FreePort(t testing.TB) int {
	t.Helper()
	port, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = port.Release() })
	return port.Number
}
