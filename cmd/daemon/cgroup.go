package daemon

import (
	"fmt"
	"os"
	"runtime/debug"

	"brine/cmd/session"
	"brine/modules/host/memory"
)

// limitMemory makes the collector work harder before this process reaches the memory limit of its control
// group. The kernel would kill the process there. It returns that limit in bytes, or 0 without a limit. A
// GOMEMLIMIT of the operator stays in force.
func limitMemory(s *session.Session) int64 {
	limit := memory.OfGroup()
	if limit == 0 {
		return 0
	}
	s.Log.Info(fmt.Sprintf("The memory limit of this control group is %d MiB", limit>>20))
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory.ForGo())
	}
	return limit
}
