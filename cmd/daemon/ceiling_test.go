package daemon

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestCeilingFor(t *testing.T) {
	const mb = 1 << 20
	for _, tt := range []struct {
		name                      string
		live, ceiling, most, want int64
	}{
		{"little lives", 8 * mb, 128 * mb, math.MaxInt64, 128 * mb},
		{"as much as leaves room", 74 * mb, 128 * mb, math.MaxInt64, 128 * mb},
		{"more", 76 * mb, 128 * mb, math.MaxInt64, 136 * mb},
		{"much more", 1000 * mb, 128 * mb, math.MaxInt64, 1520 * mb},
		{"more than a limit", 1000 * mb, 128 * mb, 400 * mb, 400 * mb},
		{"beyond all", math.MaxInt64, 128 * mb, math.MaxInt64, math.MaxInt64/4 + math.MaxInt64/8},
	} {
		got := ceilingFor(tt.live, tt.ceiling, tt.most)
		if diff := got - tt.want; diff < 0 || diff > 2*ceilingRest || tt.live < math.MaxInt64 && diff != 0 {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestHoldMemory checks the limit that holdMemory sets. A limit of an operator or of a control group stays in
// force.
func TestHoldMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	runtime.GC()
	if liveHeap() == 0 {
		t.Error("nothing lives")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel() // one check
	for _, tt := range []struct {
		name, env            string
		limit, ceiling, want int64
	}{
		{"ceiling", "", math.MaxInt64, 1 << 40, 1 << 40},
		{"no ceiling", "", math.MaxInt64, 0, math.MaxInt64},
		{"a limit that is less", "", 1 << 39, 1 << 40, 1 << 39},
		{"the operator's", "2TiB", 1 << 41, 1 << 40, 1 << 41},
	} {
		t.Setenv("GOMEMLIMIT", tt.env)
		debug.SetMemoryLimit(tt.limit)
		holdMemory(over, tt.ceiling)
		if got := debug.SetMemoryLimit(-1); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}
