package stats

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBucket(t *testing.T) {
	for _, tt := range []struct {
		ns   int64
		want int
	}{
		{math.MinInt64, 0}, {-1, 0}, {0, 0}, {511, 0}, {512, 1}, {1023, 1}, {1024, 2},
		{1 << 38, 30}, {1<<39 - 1, 30}, {1 << 39, 31}, {1 << 40, 31}, {math.MaxInt64, 31},
	} {
		if got := bucket(tt.ns); got != tt.want {
			t.Errorf("bucket(%d): got %d, want %d", tt.ns, got, tt.want)
		}
	}
}

func TestSpread(t *testing.T) {
	const us, ms = 1000, 1000000
	for _, tt := range []struct {
		name    string
		ns      []int64
		want    Spread
		buckets []uint64
	}{
		{"nothing", nil, Spread{}, nil},
		{"one", []int64{3 * us}, Spread{Count: 1, P50US: 3, P99US: 3, MaxUS: 3, SumUS: 3}, []uint64{0, 0, 0, 1}},
		{"below a bucket's bound", []int64{100 * us, 5000 * us}, Spread{Count: 2, P50US: 131, P99US: 5000, MaxUS: 5000,
			SumUS: 5100},
			[]uint64{8: 1, 14: 1}},
		{"backwards clock", []int64{-5}, Spread{Count: 1}, []uint64{1}},
		{"a long one", []int64{math.MaxInt64}, Spread{Count: 1, P50US: 1 << 40 / 1000, P99US: 1 << 40 / 1000,
			MaxUS: math.MaxInt64 / 1000, SumUS: math.MaxInt64 / 1000},
			[]uint64{31: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h Histogram
			for _, ns := range tt.ns {
				h.Record(ns)
			}
			got := h.Spread()
			if !slices.Equal(got.Buckets, tt.buckets) {
				t.Errorf("buckets: got %v, want %v", got.Buckets, tt.buckets)
			}
			got.Buckets = nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if h.Count() != uint64(len(tt.ns)) {
				t.Errorf("Count: got %d, want %d", h.Count(), len(tt.ns))
			}
		})
	}
	var h Histogram
	for range 99 {
		h.Record(us)
	}
	h.Record(7 * ms)
	if got := h.Spread(); got.P50US != 1 || got.P99US != 1 || got.MaxUS != 7000 {
		t.Errorf("got %+v", got)
	}
	h.Record(7 * ms)
	if got := h.Spread(); got.P99US != 7000 {
		t.Errorf("got %+v", got)
	}
}

func TestCounters(t *testing.T) {
	var c Counters
	if name, since := c.InHand(); name != "" || since != 0 || c.Note() != "" || c.Busy(5) != 0 {
		t.Errorf("fresh: got %q, %d", name, since)
	}
	c.Begin(10, reflect.TypeFor[*Death]())
	if name, since := c.InHand(); name != "*stats.Death" || since != 10 {
		t.Errorf("got %q since %d", name, since)
	}
	if got := c.Busy(15); got != 5 {
		t.Errorf("busy %d while in hand, want 5", got)
	}
	if got := c.Busy(5); got != 0 {
		t.Errorf("busy %d before the begin, want 0", got)
	}
	c.End(10, 30)
	c.Begin(30, nil)
	if name, since := c.InHand(); name != "*stats.Death" || since != 30 {
		t.Errorf("got %q since %d", name, since)
	}
	c.End(30, 31)
	c.Idle(10)
	if _, since := c.InHand(); since != 30 {
		t.Errorf("another's end: in hand since %d, want 30", since)
	}
	c.Idle(30)
	if name, _ := c.InHand(); name != "" || c.Busy(100) != 21 {
		t.Errorf("idle: got %q, busy %d, want 21", name, c.Busy(100))
	}
	c.SetNote("x")
	if c.Note() != "x" {
		t.Errorf("got note %q", c.Note())
	}
}

func TestLosses(t *testing.T) {
	var l Losses
	if l.Total() != 0 || len(l.ByName()) != 0 || l.ByName() == nil {
		t.Errorf("fresh: got %v", l.ByName())
	}
	l[LossGone].Add(2)
	l[LossQuarantined].Add(1)
	if diff := cmp.Diff(map[string]uint64{"gone": 2, "quarantined": 1}, l.ByName()); diff != "" || l.Total() != 3 ||
		l.Count(LossGone) != 2 {
		t.Errorf("total %d (-want +got):\n%s", l.Total(), diff)
	}
	for kind, name := range lossNames {
		if name == "" {
			t.Errorf("kind %d has no name", kind)
		}
	}
}

func TestHour(t *testing.T) {
	t0 := time.Date(2024, 5, 17, 12, 0, 30, 0, time.UTC)
	var h Hour
	if (*Hour)(nil).Count(t0) != 0 || h.Count(t0) != 0 {
		t.Error("an empty hour counts")
	}
	for _, tt := range []struct {
		after time.Duration
		want  int // including the one added now
	}{
		{0, 1}, {0, 2}, {time.Second, 3}, {30 * time.Minute, 4}, {59 * time.Minute, 5}, {60 * time.Minute, 3},
		{89 * time.Minute, 4}, {90 * time.Minute, 4}, {80 * time.Minute, 5}, {100 * time.Hour, 1},
	} {
		now := t0.Add(tt.after)
		before := h.Count(now)
		h.Add(now)
		if got := h.Count(now); got != tt.want || before != tt.want-1 {
			t.Errorf("after %s: got %d, then %d, want %d", tt.after, before, got, tt.want)
		}
	}
}
