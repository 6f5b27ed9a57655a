package bench

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestEndStrays: endStrays ends a process that has left its group and its parent, and leaves older processes
// alone.
func TestEndStrays(t *testing.T) {
	if err := adopt(); err != nil {
		t.Fatal(err)
	}
	stays := exec.Command("sleep", "300")
	if err := stays.Start(); err != nil {
		t.Fatal(err)
	}
	before := children()
	parent := exec.Command("sh", "-c", "setsid sh -c 'sleep 300 >/dev/null & echo $$ $!; exec sleep 300 >/dev/null' "+
		"& wait")
	parent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-parent.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	if err := endStrays(before); err != nil {
		t.Error(err)
	}
	for _, word := range strings.Fields(line) {
		if pid, err := strconv.Atoi(word); err != nil || syscall.Kill(pid, 0) == nil {
			t.Errorf("process %q runs on (%v)", word, err)
		}
	}
	if err := stays.Process.Kill(); err != nil {
		t.Errorf("what was there before has gone: %v", err)
	}
	_ = stays.Wait() // it was killed
}
