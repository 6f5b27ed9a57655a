package jinja

import (
	"testing"
	"time"
)

// TestReadDate: dates that depend on now, with the answers that timelib 0.3.0 gave at this time.
func TestReadDate(t *testing.T) {
	now := time.Date(2026, 11, 23, 11, 20, 2, 0, time.UTC)
	for text, want := range map[string]string{
		"NOW": "2026-11-23 11:20:02", "today": "2026-11-23 00:00:00", "midnight": "2026-11-23 00:00:00",
		"noon": "2026-11-23 12:00:00", "Tomorrow": "2026-11-24 00:00:00", "yesterday": "2026-11-22 00:00:00",
		"+1 day": "2026-11-24 11:20:02", "1 day ago": "2026-11-22 11:20:02",
		"-2 weeks": "2026-11-09 11:20:02",
	} {
		got, ok := readDate(text, now)
		if shown := got.Format(time.DateTime); !ok || shown != want {
			t.Errorf("%q: %s, %v, want %s", text, shown, ok, want)
		}
	}
	for _, text := range []string{"next monday", "10:30", "2020", "12.5", "1700000", "@", "@99999999999999999999",
		"1 day 2 hours", "2020-01-02x"} {
		if got, ok := readDate(text, now); ok {
			t.Errorf("%q was read as %s", text, got)
		}
	}
}
