package journal

import (
	"testing"
	"time"
)

// TestPlausible: a return of a machine that had no time when it was made is no older than its next start.
func TestPlausible(t *testing.T) {
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ at, want time.Time }{
		{now.Add(-time.Hour), now.Add(-time.Hour)}, {time.Unix(100, 0), now}, {now.Add(time.Hour), now},
	} {
		if got := plausible(tt.at, now); !got.Equal(tt.want) {
			t.Errorf("%v: got %v, want %v", tt.at, got, tt.want)
		}
	}
}
