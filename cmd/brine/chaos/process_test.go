package chaos

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// process is one line of /proc.
type process struct {
	pid, parent int
	state       byte // Z: zombie
	started     uint64
	args        string
}

func (p process) String() string {
	return fmt.Sprintf("%d (%c, child of %d) %s", p.pid, p.state, p.parent, p.args)
}

// processes reads all running processes. It omits those that end meanwhile.
func processes() map[int]process {
	all := map[int]process{}
	names, _ := os.ReadDir("/proc")
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			all[pid] = p
		}
	}
	return all
}

func readProcess(pid int) (process, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := bytes.LastIndexByte(stat, ')')
	if err != nil || end < 0 {
		return process{}, false
	}
	words := strings.Fields(string(stat[end+1:]))
	if len(words) < 20 {
		return process{}, false
	}
	p := process{pid: pid, state: words[0][0]}
	p.parent, _ = strconv.Atoi(words[1])
	p.started, _ = strconv.ParseUint(words[19], 10, 64)
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	p.args = strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))
	return p, true
}

// below lists the descendants of a process, without those of the others, sorted.
func below(all map[int]process, root int, others ...int) []process {
	var found []process
	for pid := range all {
		for up := pid; up > 1 && !slices.Contains(others, up); up = all[up].parent {
			if up == root && pid != root {
				found = append(found, all[pid])
				break
			}
		}
	}
	slices.SortFunc(found, func(a, b process) int { return a.pid - b.pid })
	return found
}

// childrenOf lists the children of a single-threaded process that are no zombies, sorted.
func childrenOf(pid int) []int {
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	var pids []int
	for _, w := range strings.Fields(string(list)) {
		n, _ := strconv.Atoi(w)
		if p, ok := readProcess(n); ok && p.state != 'Z' {
			pids = append(pids, n)
		}
	}
	return pids
}

// reapOrphans reaps processes that became children of this one because their parent died. It leaves those that
// this process has started itself, because other code waits for them.
func reapOrphans(own func(pid int) bool) {
	self := os.Getpid()
	for pid, p := range processes() {
		if p.parent == self && p.state == 'Z' && !own(pid) {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // it may be reaped already
		}
	}
}
