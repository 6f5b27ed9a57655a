package pillars

import (
	"fmt"
	"testing"
)

// TestSlowLines: however many lines were late, those that are remembered have a bound.
func TestSlowLines(t *testing.T) {
	w := newPillarWork()
	for i := range 3 * pillarsSlow {
		w.remember(fmt.Sprint("runner ", i))
	}
	w.remember("runner 0")
	if len(w.wasLate) != pillarsSlow || !w.wasLate["runner 0"] {
		t.Errorf("%d lines are remembered", len(w.wasLate))
	}
}
