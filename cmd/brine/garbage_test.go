package main

import (
	"runtime/metrics"
	"testing"
	"time"
)

func TestPacing(t *testing.T) {
	const ms, mb = time.Millisecond, 1 << 20
	p := pacing{set: restGOGC}
	for i, tt := range []struct {
		used    time.Duration // in all
		live    uint64
		want    int
		changed bool
	}{
		{100 * ms, 2 * mb, 100, false},
		{250 * ms, 2 * mb, 100, false},
		{450 * ms, 2 * mb, 400, true}, // load, with a small heap
		{900 * ms, 3 * mb, 400, false},
		{1900 * ms, 24 * mb, 200, true}, // with a larger one
		{2900 * ms, 2400 * mb, 101, true},
		{3900 * ms, 24000 * mb, 100, true},
		{4900 * ms, 0, 400, true}, // nothing was collected yet
		{4999 * ms, 2 * mb, 100, true},
		{5000 * ms, 2 * mb, 100, false},
	} {
		if got, changed := p.next(tt.used, tt.live); got != tt.want || changed != tt.changed {
			t.Errorf("look %d: got %d, %v, want %d, %v", i, got, changed, tt.want, tt.changed)
		}
	}
}

// TestLiveMetric: the runtime knows the name.
func TestLiveMetric(t *testing.T) {
	s := []metrics.Sample{{Name: liveMetric}}
	if metrics.Read(s); s[0].Value.Kind() != metrics.KindUint64 {
		t.Errorf("%s is of kind %v", liveMetric, s[0].Value.Kind())
	}
}
