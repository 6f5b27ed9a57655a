package answers

import (
	"testing"
	"time"

	"brine/modules/fleet/ledger"
)

// TestAtWork: the word of a minion that it runs a job counts for a while.
func TestAtWork(t *testing.T) {
	now := ledger.At(time.Now())
	row := ledger.Row{Minion: &ledger.Minion{Started: now, Now: now}}
	if !atWork(&row, now) {
		t.Error("said just now: not at work")
	}
	if atWork(&row, now+ledger.Stamp(saidLately/time.Microsecond)) {
		t.Error("said long ago: at work")
	}
	row.Minion.Ended = now
	if atWork(&row, now) {
		t.Error("ended: at work")
	}
}
