package returns

import (
	"testing"
	"time"

	"brine/actors/minion/journal"
)

func TestSurplus(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	all := []journal.Spooled{{Key: "a", Size: 50, At: now.Add(-3 * time.Hour)},
		{Key: "b", Size: 30, At: now.Add(-2 * time.Hour)},
		{Key: "c", Size: 30, At: now.Add(-time.Minute)}}
	for _, tt := range []struct {
		bytes int64
		age   time.Duration
		want  string
	}{
		{0, 0, ""}, {110, 0, ""}, {109, 0, "a"}, {59, 0, "ab"}, {1, 0, "abc"}, {0, 2*time.Hour + 1, "a"},
		{0, time.Hour, "ab"}, {40, time.Hour, "ab"}, {20, time.Hour, "abc"},
	} {
		got := ""
		replace, drop := surplus(all, tt.bytes, tt.age, now)
		for _, d := range drop {
			got += d.Key
		}
		if len(replace) > 0 {
			t.Errorf("%d bytes: replaced %v, which are small", tt.bytes, replace)
		}
		if got != tt.want {
			t.Errorf("%d bytes, %v: dropped %q, want %q", tt.bytes, tt.age, got, tt.want)
		}
	}
}

// TestSurplusReplaced replaces before it drops, the oldest first, and nothing twice.
func TestSurplusReplaced(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	all := []journal.Spooled{{Key: "a", Size: 5000, At: now}, {Key: "b", Size: 100, At: now},
		{Key: "c", Size: 5000, At: now, Reason: true}, {Key: "d", Size: 5000, At: now}}
	for _, tt := range []struct {
		bytes         int64
		replace, drop string
	}{
		{15100, "", ""}, {15099, "a", ""}, {11124, "a", ""}, {11123, "ad", ""}, {7148, "ad", ""}, {7147, "d", "a"},
		{6100, "d", "ab"}, {1024, "d", "abc"}, {1, "", "abcd"},
	} {
		keys := func(list []journal.Spooled) (all string) {
			for _, r := range list {
				all += r.Key
			}
			return all
		}
		if replace, drop := surplus(all, tt.bytes, 0, now); keys(replace) != tt.replace || keys(drop) != tt.drop {
			t.Errorf("%d bytes: replaced %q, dropped %q, want %q, %q", tt.bytes, keys(replace), keys(drop), tt.replace,
				tt.drop)
		}
	}
}
