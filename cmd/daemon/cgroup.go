package daemon

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"brine/cmd/session"
)

// memoryShare is how much of a limit of memory Go's own memory may take, in percent. libzmq, OpenSSL and the pages of
// files that are mapped take from the same limit.
const memoryShare = 40

// limitMemory makes the collector work harder before this process reaches the memory limit of its control group, which
// would kill it. It returns that limit in bytes, 0 when there is none. A GOMEMLIMIT of the operator stands.
func limitMemory(s *session.Session) int64 {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0 // no Linux
	}
	limit := memoryLimit(string(own), "/sys/fs/cgroup", os.ReadFile)
	if limit == 0 {
		return 0
	}
	s.Log.Info(fmt.Sprintf("The memory limit of this control group is %d MiB", limit>>20))
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 100 * memoryShare)
	}
	return limit
}

// memoryLimit is the least limit of the control groups that a process is in, 0 when there is none. own is its table
// (proc_pid_cgroup(5), "id:controllers:path"); in a container the path may be the host's, so that the mount's own root
// counts as well.
func memoryLimit(own, mount string, read func(path string) ([]byte, error)) int64 {
	least := int64(math.MaxInt64)
	for line := range strings.Lines(own) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root, files := mount, []string{"memory.max", "memory.high"}
		switch {
		case parts[1] == "memory":
			root, files = filepath.Join(mount, "memory"), []string{"memory.limit_in_bytes"}
		case parts[1] != "":
			continue
		}
		for dir := filepath.Join("/", parts[2]); ; dir = filepath.Dir(dir) {
			for _, f := range files {
				if raw, err := read(filepath.Join(root, dir, f)); err == nil {
					least = min(least, parseLimit(string(raw)))
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	if least > machineMost {
		return 0
	}
	return least
}

// machineMost is beyond what any machine has: the kernel's way to say that there is no limit.
const machineMost = 1 << 50

// parseLimit reads a limit; "max" is none.
func parseLimit(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n <= 0 {
		return math.MaxInt64
	}
	return n
}
