package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"brine/cmd/session"
)

// TestAPIDaemon: salt-api goes into the background. Its pid and its log go to the files that the command line
// names, whatever root_dir is. A second salt-api with the same pid file is refused. SIGTERM ends the first.
func TestAPIDaemon(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("", "bd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	s := &apiSite{t: t, root: root}
	s.write("etc/master", fmt.Sprintf("root_dir: %s/r\nuser: %s\ninterface: 127.0.0.1\n", root, session.RunningUser()))
	pidFile, log := filepath.Join(root, "own.pid"), filepath.Join(root, "own.log")
	words := []string{"-c", filepath.Join(root, "etc"), "-d", "--pid-file=" + pidFile, "--log-file=" + log,
		"--log-file-level=info"}
	if out, err := exec.Command("salt-api", words...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var pid int
	s.await("pid and log", func() error {
		raw, err := os.ReadFile(pidFile)
		if err != nil {
			return err
		}
		if pid, err = strconv.Atoi(strings.TrimSpace(string(raw))); err != nil {
			return err
		}
		text, err := os.ReadFile(log)
		if err == nil && !strings.Contains(string(text), "salt-api is starting as user") {
			err = fmt.Errorf("the log is %q", text)
		}
		return err
	})
	if out, err := exec.Command("salt-api", words...).CombinedOutput(); err == nil || !strings.Contains(string(out),
		"An instance is already running. Exiting the Salt API") {
		t.Errorf("a second one: %v: %s", err, out)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.await("the end", func() error {
		if runs(pid) {
			return fmt.Errorf("process %d runs", pid)
		}
		return nil
	})
}
