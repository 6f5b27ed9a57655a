package daemon

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// crashDiskEnv names the folder for a run of the test that may mount.
const crashDiskEnv = "BRINE_CRASH_DISK_TEST"

// TestCrashOnFullDisk: a process that crashes while its disk is full still leaves its output. As long as the
// disk is full, no report is promised. The first start with free space makes the report.
func TestCrashOnFullDisk(t *testing.T) {
	dir := os.Getenv(crashDiskEnv)
	if dir == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrashOnFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), crashDiskEnv+"="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, fs.ErrPermission) || strings.Contains(string(out), "--- SKIP") {
			t.Skipf("mounting is not permitted here: %v\n%s", err, out)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err == nil {
		err = syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1048576")
	}
	if err != nil {
		t.Skipf("mounting is not permitted here: %v", err)
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	crashOn(t, dir)
	output := filepath.Join(dir, crashFolder, crashOutput)
	if raw, err := os.ReadFile(output); err != nil || !strings.Contains(string(raw), "panic: cannot log in") {
		t.Fatalf("the output of the crash: %.200q, %v", raw, err)
	}
	report, err := catchCrashes(crashSession(dir), "", nil)
	if err == nil || report != "" || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a report on a full disk: %q, %v", report, err)
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	report, err = catchCrashes(crashSession(dir), "", nil)
	raw, _ := os.ReadFile(report)
	if err != nil || !strings.Contains(string(raw), "panic: cannot log in") {
		t.Errorf("the report: %.200q, %v", raw, err)
	}
	if info, err := os.Stat(output); err != nil || info.Size() != 0 {
		t.Errorf("the output is still there: %v, %v", info, err)
	}
	crashOn(t, dir) // the output has used the reserved space, which is reserved again by now
	if raw, err := os.ReadFile(output); err != nil || !strings.Contains(string(raw), "panic: cannot log in") {
		t.Errorf("the output of the second crash: %.200q, %v", raw, err)
	}
}

// crashOn lets a process crash. Its disk is filled after its start.
func crashOn(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashReport$")
	cmd.Env = append(os.Environ(), crashEnv+"="+dir, crashFillEnv+"="+filepath.Join(dir, "filler"))
	if err := cmd.Run(); err == nil {
		t.Fatal("it has not crashed")
	}
}

// crashFillEnv names a file that the crashing process makes as large as the disk allows.
const crashFillEnv = "BRINE_CRASH_FILL_TEST"

// fillUp fills the disk of a file to the last byte.
func fillUp(path string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	for chunk := make([]byte, 1<<16); len(chunk) > 0; {
		if _, err := f.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
	_ = f.Close()
}
