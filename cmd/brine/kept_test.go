package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child is the process of the minion below its parent.
func (k *killedFleet) child() (pid int) { return childOf(k.minion.Process.Pid) }

// childOf returns the only child of a process, or 0 if it has none or several.
func childOf(parent int) (pid int) {
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", parent))
	if words := strings.Fields(string(list)); len(words) == 1 {
		pid, _ = strconv.Atoi(words[0])
	}
	return pid
}

// runs tells whether a process exists and is no zombie.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestKeptMinion kills the process of a minion below its parent. A successor starts at once, returns the jobs
// of the dead process, and says why that died. Then the test kills the parent, and no process is left.
func TestKeptMinion(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a fleet")
	}
	t.Parallel()
	for _, option := range []string{"multiprocessing: False", "multiprocessing: True"} {
		t.Run(option, func(t *testing.T) { keepMinion(t, option) })
	}
}

func keepMinion(t *testing.T, option string) {
	k := newKilledFleet(t, option)
	before := k.child()
	if before == 0 {
		t.Skip("the kernel does not list children")
	}
	run := filepath.Join(k.s.root, "tmp", "run")
	if err := os.WriteFile(run, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	jid, trace := k.publish("kept", fmt.Sprintf("echo $$ >> %s.pid; while test -e %s; do sleep 0.1; done",
		filepath.Join(k.s.root, "tmp", "kept"), run))
	k.until("a job that begins", func() bool {
		_, err := os.ReadFile(trace + ".pid")
		return err == nil && begun(trace) == 1
	})
	since := time.Now()
	if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	k.until("a new process", func() bool { pid := k.child(); return pid != 0 && pid != before })
	t.Logf("a new process after %v", time.Since(since))
	k.until("the answer of the job", func() bool {
		return strings.Contains(k.answer(jid), "process ended while the job was running: signal 9 (killed)")
	})
	t.Logf("the job was answered after %v", time.Since(since))
	history, err := exec.Command("brine", "history", "-c", filepath.Join(k.s.root, "web1"), "-m",
		"minion").CombinedOutput()
	if err != nil || !strings.Contains(string(history), "; lost: what its actors had in hand; 1 job ran and is "+
		"answered as ended, ") {
		t.Errorf("the history does not count the job: %v\n%s", err, history)
	}
	raw, _ := os.ReadFile(trace + ".pid")
	pid, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
	k.until("the end of the job's command", func() bool { return !runs(pid) })
	if err := os.Remove(run); err != nil {
		t.Fatal(err)
	}
	k.await()
	if n := begun(trace); n != 1 {
		t.Errorf("the job ran %d times", n)
	}
	last := k.child()
	if err := k.minion.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	k.until("the end of the process without a parent", func() bool { return !runs(last) })
}

// TestStopKept ends a minion by a signal to its parent, to its process, and to both.
func TestStopKept(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a fleet")
	}
	k := newKilledFleet(t, "multiprocessing: True")
	for name, to := range map[string]func() []int{
		"parent":  func() []int { return []int{k.minion.Process.Pid} },
		"process": func() []int { return []int{k.child()} },
		"both":    func() []int { return []int{k.minion.Process.Pid, k.child()} },
	} {
		jid, trace := k.publish("stop-"+name, "sleep 600")
		k.until("a job that begins", func() bool { return begun(trace) == 1 })
		for _, pid := range to() {
			if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
				// the first signal may have ended this process already
				t.Fatal(err)
			}
		}
		if err := k.minion.Wait(); err != nil {
			t.Errorf("SIGTERM to %s: %v", name, err)
		}
		k.start()
		k.await()
		k.until("the answer of the job", func() bool {
			return strings.Contains(k.answer(jid), "The minion was stopped while the job was running")
		})
	}
}
