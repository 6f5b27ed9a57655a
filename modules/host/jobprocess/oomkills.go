package jobprocess

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// oomKills watches how often the kernel has killed a process for lack of memory, as near to the minion as it is
// counted: in its control group of version 2, of version 1, else in the whole machine.
type oomKills struct {
	path string // "" where nobody counts
	key  string

	mu   sync.Mutex
	last int64
}

// findOOMKills finds the counter and reads it.
func findOOMKills() *oomKills {
	own, _ := os.ReadFile("/proc/self/cgroup") // without it the machine's counter serves
	for _, c := range oomCounters(string(own), "/sys/fs/cgroup") {
		k := &oomKills{path: c.path, key: c.key}
		if n, ok := k.read(); ok {
			k.last = n
			return k
		}
	}
	return &oomKills{}
}

type oomCounter struct{ path, key string }

// oomCounters lists where kills may be counted, from a table of proc_pid_cgroup(5): "id:controllers:path".
func oomCounters(own, mount string) (out []oomCounter) {
	for line := range strings.Lines(own) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) != 3:
		case parts[1] == "":
			out = append(out, oomCounter{filepath.Join(mount, parts[2], "memory.events"), "oom_kill"})
		case parts[1] == "memory":
			out = append(out, oomCounter{filepath.Join(mount, "memory", parts[2], "memory.oom_control"), "oom_kill"},
				oomCounter{filepath.Join(mount, "memory", "memory.oom_control"), "oom_kill"})
		}
	}
	return append(out, oomCounter{"/proc/vmstat", "oom_kill"})
}

// another tells whether there were kills since it was last asked.
func (k *oomKills) another() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, ok := k.read()
	more := ok && n > k.last
	k.last = max(k.last, n)
	return more
}

func (k *oomKills) read() (int64, bool) {
	raw, err := os.ReadFile(k.path)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(raw) {
		words := bytes.Fields(line)
		if len(words) == 2 && string(words[0]) == k.key {
			n, err := strconv.ParseInt(string(words[1]), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
