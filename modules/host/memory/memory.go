// Package memory tells how much memory this process may use. It measures nothing and sets nothing.
package memory

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// share is how much of a limit of memory Go's own memory may take, in percent. libzmq, OpenSSL and the pages of
// files that are mapped take from the same limit.
const share = 40

// OfGroup is the memory limit of the control group at the start of this process, in bytes; 0 when there is none.
var OfGroup = sync.OnceValue(func() int64 {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0 // no Linux
	}
	return limitOf(string(own), "/sys/fs/cgroup", os.ReadFile)
})

// ForGo is what Go may take in this process, in bytes; math.MaxInt64: as much as there is. It goes by the control
// group, an operator's GOMEMLIMIT and the limit of a job's process, and not by the limit that the collector has just
// now, which a master keeps low for as long as it can.
func ForGo() int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1)
	}
	most := int64(math.MaxInt64)
	if limit := OfGroup(); limit > 0 {
		most = limit / 100 * share
	}
	var data syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &data); err == nil && uint64(data.Cur) < math.MaxInt64 {
		most = min(most, int64(data.Cur))
	}
	return most
}

// limitOf is the least limit of the control groups that a process is in, 0 when there is none. own is its table
// (proc_pid_cgroup(5), "id:controllers:path"); in a container the path may be the host's, so that the mount's own root
// counts as well.
func limitOf(own, mount string, read func(path string) ([]byte, error)) int64 {
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

// engineTemplates is the limit that the engine of templates has of its own, in bytes.
const engineTemplates = 512 << 20

// ForTemplate is what the values of one template may take where Go may have less than the engine's own limit, in bytes;
// 0: the engine's own. A daemon gives Go a part of the memory limit of its control group.
func ForTemplate() int {
	if limit := ForGo(); limit < engineTemplates {
		return int(limit)
	}
	return 0
}
