package quota

import (
	"fmt"
	"testing"
	"time"
)

func TestQuota(t *testing.T) {
	q := NewBook(3600, 100, 0)
	now := time.Unix(1_700_000_000, 0)
	for _, step := range []struct {
		after       time.Duration
		id          string
		want, share int
		given       int
	}{
		{0, "a", 3000, 1, 3000},
		{0, "a", 1000, 1, 600},
		{0, "a", 1, 1, 0},
		{0, "b", 3601, 1, 3600},
		{time.Minute, "a", 1000, 1, 60},
		{time.Hour, "a", 5000, 1, 3600},
		{0, "s", 40000, 10, 36000},
		{-time.Hour, "a", 1, 1, 0}, // a clock that was set back gives nothing, and takes nothing
	} {
		now = now.Add(step.after)
		if got := q.Take(step.id, 0, step.want, step.share, now); got != step.given {
			t.Errorf("%s takes %d: got %d, want %d", step.id, step.want, got, step.given)
		}
	}
	if !q.Spend("c", 1, 1000, 1, now) || q.Spend("c", 1, 1, 1, now) {
		t.Error("the last thing spent may be too much, nothing after it")
	}
	if got := q.Take("c", 2, 1<<20, 1, now); got != 1<<20 {
		t.Errorf("without a limit: got %d", got)
	}
}

// TestQuotaForgetsTheIdle: minions with nothing in use take no memory.
func TestQuotaForgetsTheIdle(t *testing.T) {
	q := NewBook(3600)
	now := time.Unix(1_700_000_000, 0)
	for i := range 3 * maxIDs {
		now = now.Add(10 * time.Second)
		q.Take(fmt.Sprint(i), 0, 1, 1, now)
	}
	if n := len(q.byID); n > maxIDs {
		t.Errorf("%d ids remembered", n)
	}
}
