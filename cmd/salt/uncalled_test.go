package salt

import (
	"fmt"
	"slices"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"
)

// TestUncalledReturners: minions that name the same returners share a line. A minion's text never makes more
// than one line, and control characters in it do not reach the terminal.
func TestUncalledReturners(t *testing.T) {
	var u uncalled
	u.see(client.Return{ID: "silent"})
	u.see(client.Return{ID: "salts", Data: payload.NewReturn(payload.M("return", true))})
	if got := u.lines(); got != nil {
		t.Errorf("nothing to say: %q", got)
	}
	for i := range 12 {
		u.see(client.Return{ID: fmt.Sprintf("w%02d", 11-i), Data: payload.NewReturn(payload.M("returners_not_called",
			[]any{"nosuch", "a"}))})
	}
	u.see(client.Return{ID: "x1", Data: payload.NewReturn(payload.M("returners_not_called",
		[]any{"b\n\x1b[31m", int64(1)}))})
	u.see(client.Return{ID: "x2", Data: payload.NewReturn(payload.M("returners_not_called", "no list"))})
	want := []string{
		"w00, w01, w02, w03, w04, w05, w06, w07, w08, w09 and 2 more: returners not called: a, nosuch",
		"x1: returners not called: b\\n\\x1b[31m",
	}
	if got := u.lines(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
