package saltutil

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"brine/wire/payload"
)

// procDir reads the jobs of a minion from its proc files. What is stale is removed on the way: empty files, those
// of dead processes, and those of processes that are no Salt.
type procDir struct {
	dir    string
	daemon int // pid of the minion itself, whose jobs have no process of their own; 0: not known
}

func (p procDir) Running() []*payload.Map {
	entries, _ := os.ReadDir(p.dir)
	var out []*payload.Map
	for _, e := range entries {
		if job := p.read(filepath.Join(p.dir, e.Name())); job != nil {
			out = append(out, job)
		}
	}
	return out
}

func (p procDir) read(path string) *payload.Map {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil // it ended meanwhile
	}
	if len(b) == 0 {
		_ = os.Remove(path)
		return nil
	}
	job, err := payload.UnmarshalMap(b)
	if err != nil {
		return nil
	}
	pid, _ := job.Int("pid")
	if int(pid) == os.Getpid() {
		return nil
	}
	if !alive(int(pid)) || !isSalt(int(pid)) {
		_ = os.Remove(path)
		return nil
	}
	return job
}

func (p procDir) Signal(jid string, sig int) (string, bool) {
	for _, job := range p.Running() {
		if job.Str("jid") != jid {
			continue
		}
		pid, _ := job.Int("pid")
		// Unlike Salt: a job that runs inside the minion is not worth the minion.
		if int(pid) == p.daemon {
			return fmt.Sprintf("Job %s runs inside the minion (pid %d), which alone can end it: ask by a master", jid,
				pid), true
		}
		for _, child := range descendants(int(pid)) {
			_ = syscall.Kill(child, syscall.Signal(sig)) // gone in between is as good
		}
		if err := syscall.Kill(int(pid), syscall.Signal(sig)); err != nil {
			_ = os.Remove(filepath.Join(p.dir, filepath.Base(jid)))
			return fmt.Sprintf("Job %s was not running and job data has been cleaned up", jid), true
		}
		return fmt.Sprintf("Signal %d sent to job %s at pid %d", sig, jid, pid), true
	}
	return "", false
}

// pidOf reads a pid file; 0 when it cannot be read.
func pidOf(path string) int {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}

// isSalt tells whether the command line of a process names Salt; a pid may have been given to another one.
func isSalt(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && bytes.Contains(b, []byte("salt"))
}

// descendants lists all processes below one, children before their own children.
func descendants(pid int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, s := range stats {
		b, err := os.ReadFile(s)
		if err != nil {
			continue
		}
		// The name in parentheses may hold anything, so the fields are counted from its end.
		_, rest, ok := strings.Cut(string(b[bytes.LastIndexByte(b, ')')+1:]), " ")
		fields := strings.Fields(rest)
		if !ok || len(fields) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(s)))
		if err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	out := append([]int(nil), children[pid]...)
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}
