package steady

import (
	"testing"
	"time"
)

var start = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

func TestWatch(t *testing.T) {
	for _, tt := range []struct {
		name string
		jump time.Duration
		want bool
	}{
		{"corrected", 30 * time.Second, true}, {"an hour ahead", time.Hour, false}, {"an hour back", -time.Hour, false},
		{"a year ahead", 365 * 24 * time.Hour, false},
	} {
		var w Watch
		if w.Look(start, time.Second); w.Calm() {
			t.Fatalf("%s: calm at the start", tt.name)
		}
		if got := w.Look(start.Add(Rest), time.Second+Rest); got != 0 || !w.Calm() {
			t.Fatalf("%s: an hour later: jump %v, calm %v", tt.name, got, w.Calm())
		}
		at, elapsed := start.Add(Rest+time.Minute+tt.jump), Rest+time.Minute+time.Second
		w.Look(at, elapsed)
		if got := w.Calm(); got != tt.want {
			t.Errorf("%s: calm %v", tt.name, got)
		}
		for range 61 {
			at, elapsed = at.Add(time.Minute), elapsed+time.Minute
			w.Look(at, elapsed)
		}
		if !w.Calm() {
			t.Errorf("%s: not calm an hour later", tt.name)
		}
	}
}

// TestClock: a Clock tells of each jump once, whoever asks.
func TestClock(t *testing.T) {
	at, elapsed := start, time.Duration(0)
	var jumps []time.Duration
	c := New(func() (time.Time, time.Duration) {
		return at, elapsed
	}, func(jump time.Duration) { jumps = append(jumps, jump) })
	step := func(wall, time time.Duration) bool {
		at, elapsed = at.Add(wall), elapsed+time
		return c.Calm()
	}
	if step(59*time.Minute, 59*time.Minute) || !step(time.Minute, time.Minute) {
		t.Error("calm at the wrong time after the start")
	}
	if step(365*24*time.Hour, 0) || c.Calm() || step(-365*24*time.Hour, time.Second) {
		t.Error("calm after a jump")
	}
	if len(jumps) != 2 || jumps[0] != 365*24*time.Hour || jumps[1] != -365*24*time.Hour-time.Second {
		t.Errorf("jumps %v", jumps)
	}
	if !step(Rest, Rest) {
		t.Error("not calm an hour after a jump")
	}
}

// TestSince: the time since the start is none that a clock shows.
func TestSince(t *testing.T) {
	began := time.Now()
	if wall, elapsed := Since(began)(); elapsed < 0 || wall.Sub(began) != elapsed {
		t.Errorf("%v, %v after %v", wall, elapsed, began)
	}
}
