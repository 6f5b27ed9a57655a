package edit_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"brine/modules/execution/file/edit"
)

// onSmallDisk names the directory with the small disk in the process that sees it.
const onSmallDisk = "BRINE_TEST_SMALL_DISK"

// TestFullDisk: an edit for which there is no room leaves the file as it was, and nothing beside it. The disk is one in
// memory that only a process of its own sees.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(onSmallDisk); dir != "" {
		fullDisk(t, dir)
		return
	}
	t.Parallel()
	needsRoot(t)
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip("there is no unshare")
	}
	dir := t.TempDir()
	const run = `mount -t tmpfs -o size=256k none "$0" || exit 77; exec "$@"`
	cmd := exec.CommandContext(t.Context(), unshare, "--mount", "sh", "-c", run, dir, os.Args[0],
		"-test.run=^TestFullDisk$")
	cmd.Env = append(os.Environ(), onSmallDisk+"="+dir)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 {
		t.Skip("nothing can be mounted here")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func fullDisk(t *testing.T, dir string) {
	mounted(t, dir)
	const block = 4096
	old := strings.Repeat("one\n", 10*block/4)
	must(t, os.WriteFile(dir+"/f", []byte(old), 0o600), os.WriteFile(dir+"/g", []byte(old), 0o600),
		os.Link(dir+"/g", dir+"/h"))
	filler, err := os.Create(dir + "/filler")
	must(t, err)
	for err == nil {
		_, err = filler.Write(make([]byte, block))
	}
	must(t, filler.Close())
	for _, name := range []string{"f", "g"} { // written beside its place, and in it
		change, err := edit.AppendLines(dir+"/"+name, []string{strings.Repeat("x", 5*block)})
		must(t, err)
		if err := change.Apply(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
		if content(t, dir+"/"+name) != old {
			t.Errorf("%s has changed", name)
		}
	}
	if err := apply(dir+"/f", edits["replace"]); err == nil || !strings.Contains(err.Error(), "No space") {
		t.Errorf("a backup: %v", err)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 4 {
		t.Errorf("there are %d files: %v", len(entries), entries)
	}
}

// mounted edits a file that is mounted on another, as those of containers are, and which cannot be replaced.
func mounted(t *testing.T, dir string) {
	must(t, os.WriteFile(dir+"/from", []byte("one\ntwo\n"), 0o600), os.WriteFile(dir+"/on", nil, 0o600),
		syscall.Mount(dir+"/from", dir+"/on", "", syscall.MS_BIND, ""), apply(dir+"/on", edits["append"]))
	if got := content(t, dir+"/from"); got != "one\ntwo\nthree\n" {
		t.Errorf("it is %q", got)
	}
	must(t, apply(dir+"/on", edits["write"]), apply(dir+"/on", edits["block"]))
	if got := content(t, dir+"/from"); got != "three\n# a\nthree\n# b\n" {
		t.Errorf("it is %q", got)
	}
	must(t, syscall.Unmount(dir+"/on", 0), os.Remove(dir+"/on"), os.Remove(dir+"/from"), os.Remove(dir+"/on.bak"))
}
