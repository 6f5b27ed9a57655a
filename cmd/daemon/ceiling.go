package daemon

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// These constants of the ceiling are in bytes: ceilingRest is always free above the live heap, and the ceiling
// rises in steps of ceilingStep.
const (
	ceilingRest = 16 << 20
	ceilingStep = 8 << 20
)

// ceilingLook is the time between two checks of the live heap. Growth between two checks costs time, not
// memory.
const ceilingLook = 2 * time.Second

// holdMemory keeps Go's memory below a ceiling until ctx ends, unless the live heap needs more. Near the
// ceiling the collector runs more often, and free pages go back to the system. Without a ceiling a heap grows
// to twice its live size, and a storm of sign-ins keeps the pages that it used. A lower limit stays in force,
// and so does a GOMEMLIMIT of the operator.
func holdMemory(ctx context.Context, ceiling int64) {
	most := debug.SetMemoryLimit(-1)
	if ceiling <= 0 || most <= ceiling || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	look := time.NewTicker(ceilingLook)
	defer look.Stop()
	for set := most; ; {
		if next := ceilingFor(liveHeap(), ceiling, most); next != set {
			debug.SetMemoryLimit(next)
			set = next
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// ceilingFor computes the ceiling for a live heap. A collector without free memory above the live heap would
// run without pause.
func ceilingFor(live, ceiling, most int64) int64 {
	live = min(live, math.MaxInt64/4)
	need := live + live/2 + ceilingRest
	if need <= ceiling {
		return ceiling
	}
	return min((need+ceilingStep-1)/ceilingStep*ceilingStep, most)
}

// liveHeap is the size of the live heap after the last collection, in bytes.
func liveHeap() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(min(s[0].Value.Uint64(), math.MaxInt64))
}
