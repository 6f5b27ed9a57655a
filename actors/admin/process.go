package admin

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"

	"brine/modules/host/openfiles"
	"brine/supervisor/stats"
	"brine/wire/control"
)

// process describes the daemon as a process. A number that the system does not provide is 0.
func (o *operator) process(context.Context, control.GetProcess) (control.Process, error) {
	return o.self(), nil
}

func (o *operator) self() control.Process {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(heap)
	status, _ := os.ReadFile("/proc/self/status") // missing on some systems
	limits, _ := os.ReadFile("/proc/self/limits")
	p := control.Process{
		Version:      o.version,
		Go:           runtime.Version(),
		PID:          int64(os.Getpid()),
		UID:          int64(os.Geteuid()),
		Since:        stats.Stamp(o.since),
		UptimeMS:     time.Since(o.since).Milliseconds(),
		Goroutines:   int64(runtime.NumGoroutine()),
		Threads:      fieldOf(status, "Threads:"),
		RSSBytes:     fieldOf(status, "VmRSS:") * 1024,
		HeapBytes:    int64(heap[0].Value.Uint64()),
		MemoryBytes:  int64(heap[1].Value.Uint64()),
		OpenFiles:    int64(openfiles.Count()),
		OpenFilesMax: fieldOf(limits, "Max open files"),
		DeadLetters:  int64(o.tree.DeadLetters()),
		Strays:       int64(o.tree.Strays()),
	}
	if o.crashes != nil {
		if list := o.crashes(); len(list) > 0 {
			p.Crashes, p.LastCrash = int64(len(list)), list[len(list)-1]
		}
	}
	return p
}

// fieldOf is the first number after a name at the beginning of a line, or 0.
func fieldOf(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(name))
		words := bytes.Fields(rest)
		if !ok || len(words) == 0 {
			continue
		}
		n, err := strconv.ParseInt(string(words[0]), 10, 64)
		if err != nil {
			return 0 // for example "unlimited"
		}
		return n
	}
	return 0
}
