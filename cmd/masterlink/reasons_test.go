package masterlink

import (
	"testing"

	"brine/wire/payload"
)

// TestReasonLine: a reason is one line, and names one minion.
func TestReasonLine(t *testing.T) {
	got := ReasonLine(payload.M("minion", "a\x1b[2J", "text", "died\nweb1: all is well", "code", "x"))
	if want := `a\x1b[2J: died\nweb1: all is well [x]`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
