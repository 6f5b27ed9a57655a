package daemon

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Of a ceiling, in bytes: what is always left to a heap beside what lives in it, and the steps in which the ceiling
// rises.
const (
	ceilingRest = 16 << 20
	ceilingStep = 8 << 20
)

// ceilingLook is how often is looked at what lives in the heap. What comes in between costs time, not memory.
const ceilingLook = 2 * time.Second

// holdMemory keeps Go's memory below a ceiling until ctx ends, for as long as what lives in it leaves room: there the
// collector works sooner, and pages that are free go back. By itself a heap grows to twice what lives in it, and a
// storm of sign-ins leaves the pages that it took. A limit that is less stands, and so does a GOMEMLIMIT of the
// operator.
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

// ceilingFor is the ceiling for a heap in which so much lives: a collector without room would do nothing but collect.
func ceilingFor(live, ceiling, most int64) int64 {
	live = min(live, math.MaxInt64/4)
	need := live + live/2 + ceilingRest
	if need <= ceiling {
		return ceiling
	}
	return min((need+ceilingStep-1)/ceilingStep*ceilingStep, most)
}

// liveHeap is what the last collection has found to live, in bytes.
func liveHeap() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(min(s[0].Value.Uint64(), math.MaxInt64))
}
