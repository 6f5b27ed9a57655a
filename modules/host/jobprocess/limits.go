package jobprocess

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// ExitCPU is the exit code of a process that has got SIGXCPU: Go programs do not die of it by themselves.
const ExitCPU = 128 + int(unix.SIGXCPU)

// cpuGrace is how long a process that does not heed SIGXCPU goes on, in seconds of processor time.
const cpuGrace = 1

// apply sets the limits for this process and what it starts.
func (l Limits) apply() error {
	if seconds := uint64(l.CPU / time.Second); seconds > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds + cpuGrace}); err != nil {
			return fmt.Errorf("limit the processor time: %w", err)
		}
	}
	if l.Memory <= 0 {
		return nil
	}
	base, err := dataSize()
	if err != nil {
		return err
	}
	// The collector works harder before the limit is reached.
	debug.SetMemoryLimit(l.Memory)
	most := uint64(base + l.Memory)
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("limit the memory: %w", err)
	}
	return nil
}

// dataSize is what the kernel counts towards RLIMIT_DATA of this process, in bytes.
func dataSize() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("size of this process: %w", err)
	}
	for line := range bytes.Lines(status) {
		words := bytes.Fields(line)
		if len(words) == 3 && string(words[0]) == "VmData:" {
			kb, err := strconv.ParseInt(string(words[1]), 10, 64)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("size of this process: not in its status")
}
