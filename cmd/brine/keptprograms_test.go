package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// begunPrograms returns the processes that have written their pids to a file, in order.
func begunPrograms(path string) (pids []int) {
	text, _ := os.ReadFile(path)
	for _, word := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(word)
		pids = append(pids, pid)
	}
	return pids
}

// recorded tells whether a daemon's record of programs names the process group. The guard knows the group by
// then.
func recorded(t *testing.T, cache string, pid int) bool {
	t.Helper()
	group, err := syscall.Getpgid(pid)
	if err != nil {
		return false
	}
	text, _ := os.ReadFile(filepath.Join(cache, "programs")) // it may not exist yet
	return strings.Contains(string(text), fmt.Sprintf(" %d ", group))
}

// TestKeptPrograms kills the processes of a master and a minion. Their programs end with them. Only the
// programs of the successors run after that.
func TestKeptPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a fleet")
	}
	s := newSilentSite(t)
	s.kept = true
	program := func(name string) string {
		return fmt.Sprintf("[/bin/sh, -c, 'sleep 1000 & echo $! >> %s; wait']", s.path(name))
	}
	script := func(name string) string {
		return fmt.Sprintf(`script: {cmd: "/bin/sh -c 'sleep 1000 & echo $! >> %s; wait'"}`, s.path(name))
	}
	s.config("ext_processes: [{sidecar: {program: "+program("ext")+"}}]", "engines: [{"+script("master-script")+"}]")
	s.minion("web1", false, "engines: [{"+script("minion-script")+"}, {door: {program: "+program("door")+"}}]")
	s.start("master", "salt-master")
	s.start("web1", "salt-minion")
	caches := map[string]string{"master": s.path("m/var/cache/salt/master"),
		"web1": s.path("web1/var/cache/salt/minion")}
	programs := map[string][]string{"master": {"ext", "master-script"}, "web1": {"minion-script", "door"}}
	alone := func(daemon string, was map[string]int) map[string]int {
		now := map[string]int{}
		for _, name := range programs[daemon] {
			s.until(t, "one program "+name, func() bool {
				all := slices.DeleteFunc(begunPrograms(s.path(name)), func(pid int) bool { return !runs(pid) })
				if len(all) == 1 && all[0] != was[name] && recorded(t, caches[daemon], all[0]) {
					now[name] = all[0]
				}
				return now[name] != 0
			})
		}
		return now
	}
	for daemon := range programs {
		before := alone(daemon, nil)
		parent := s.proc(daemon).Process.Pid
		if err := syscall.Kill(childOf(parent), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		now := alone(daemon, before)
		child := childOf(parent)
		for _, pid := range []int{parent, child} { // the child has no time to notice the death of its parent
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		for name, pid := range now {
			s.until(t, "the end of "+name, func() bool { return !runs(pid) })
		}
	}
}
