package admin

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"

	"brine/modules/openfiles"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// process tells of the daemon as a process. What this system does not tell is 0.
func (o *operator) process(context.Context, *payload.Map) (any, error) { return o.self(), nil }

func (o *operator) self() *payload.Map {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(heap)
	status, _ := os.ReadFile("/proc/self/status") // not on every system
	limits, _ := os.ReadFile("/proc/self/limits")
	return payload.M(
		"version", o.version,
		"go", runtime.Version(),
		"pid", os.Getpid(),
		"uid", os.Geteuid(),
		"since", stats.Stamp(o.since),
		"uptime_ms", time.Since(o.since).Milliseconds(),
		"goroutines", runtime.NumGoroutine(),
		"threads", fieldOf(status, "Threads:"),
		"rss_bytes", fieldOf(status, "VmRSS:")*1024,
		"heap_bytes", heap[0].Value.Uint64(),
		"memory_bytes", heap[1].Value.Uint64(),
		"open_files", openfiles.Count(),
		"open_files_max", fieldOf(limits, "Max open files"),
		"dead_letters", o.tree.DeadLetters(),
		"strays", o.tree.Strays(),
	)
}

// fieldOf is the first number after a name at the beginning of a line; 0 when there is none.
func fieldOf(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(name))
		words := bytes.Fields(rest)
		if !ok || len(words) == 0 {
			continue
		}
		n, err := strconv.ParseInt(string(words[0]), 10, 64)
		if err != nil {
			return 0 // such as "unlimited"
		}
		return n
	}
	return 0
}
