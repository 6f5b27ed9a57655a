package masterlink

import (
	"testing"

	"brine/wire/control"
)

// TestReasonLine: a reason is one line and names one minion.
func TestReasonLine(t *testing.T) {
	got := ReasonLine(control.Reason{Minion: "a\x1b[2J", Text: "died\nweb1: all is well", Code: "x"})
	if want := `a\x1b[2J: died\nweb1: all is well [x]`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
