package stats

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"time"
)

// buckets is the number of buckets of a Histogram: the first holds all durations below 512 ns, each following one has
// twice the range, and the last holds all from 550 s.
const (
	buckets    = 32
	firstShift = 9
)

// Histogram counts durations by powers of two. Recording costs a few atomic writes; reading does not slow down the
// recorder.
type Histogram struct {
	counts [buckets]atomic.Uint64
	max    atomic.Int64
	sum    atomic.Int64
}

// Record adds one duration in nanoseconds. A negative one counts as zero. Only one goroutine may record at a time.
func (h *Histogram) Record(ns int64) {
	h.counts[bucket(ns)].Add(1)
	if ns <= 0 {
		return
	}
	h.sum.Add(ns)
	if ns > h.max.Load() {
		h.max.Store(ns)
	}
}

func bucket(ns int64) int {
	if ns < 0 {
		return 0
	}
	return min(max(bits.Len64(uint64(ns))-firstShift, 0), buckets-1)
}

// Count is the number of recorded durations.
func (h *Histogram) Count() uint64 {
	var n uint64
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return n
}

// Spread summarizes the histogram.
func (h *Histogram) Spread() Spread {
	var counts [buckets]uint64
	var n uint64
	for i := range h.counts {
		counts[i] = h.counts[i].Load()
		n += counts[i]
	}
	top := h.max.Load()
	return Spread{
		Count:   n,
		P50US:   micros(min(percentile(counts[:], n, 50), top)),
		P99US:   micros(min(percentile(counts[:], n, 99), top)),
		MaxUS:   micros(top),
		SumUS:   micros(h.sum.Load()),
		Buckets: used(counts[:]),
	}
}

// used is a copy of the counts up to the last non-zero one; nil if all are zero.
func used(counts []uint64) []uint64 {
	for i := len(counts); i > 0; i-- {
		if counts[i-1] != 0 {
			return slices.Clone(counts[:i])
		}
	}
	return nil
}

// percentile is the upper bound in nanoseconds of the bucket that holds the p-th hundredth of n durations.
func percentile(counts []uint64, n uint64, p uint64) int64 {
	if n == 0 {
		return 0
	}
	rank := (n*p + 99) / 100
	for i, c := range counts {
		if c >= rank {
			return 1 << (i + firstShift)
		}
		rank -= c
	}
	return 1 << (len(counts) + firstShift)
}

func micros(ns int64) int64 { return int64(time.Duration(ns) / time.Microsecond) }
