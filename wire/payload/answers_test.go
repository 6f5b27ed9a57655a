package payload_test

import (
	"errors"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestReturnTaken: only one answer acknowledges a return; with any other the minion keeps it.
func TestReturnTaken(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answer  any
		taken   bool
		refused bool
		why     string
	}{
		{"None", nil, true, false, ""},
		{"what raises", "", false, false, "failed with it"},
		{"signature", false, false, true, "minion_sign_messages"},
		{"not exposed, or no token", payload.NewMap(0), false, true, "not accepted any more"},
		{"of another command", true, false, false, "true"},
		{"text", "bad load", false, false, "bad load"},
		{"long text", strings.Repeat("x", 1<<20), false, false, "1048576 bytes"},
		{"cluster that is not ready", payload.M("ret", false, "cluster_retry", true), false, false, "Map"},
		{"number", int64(0), false, false, "int64"},
		{"list", []any{}, false, false, "[]interface"},
		{"bytes", []byte{}, false, false, "[]uint8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			judged(t, payload.ReturnTaken(tt.answer), tt.taken, tt.refused, tt.why)
		})
	}
}

// TestTaken covers requests that masters answer with None or True.
func TestTaken(t *testing.T) {
	for _, tt := range []struct {
		answer  any
		taken   bool
		refused bool
	}{{nil, true, false}, {true, true, false}, {"", false, false}, {false, false, true}, {payload.NewMap(0), false,
		true}, {int64(1), false, false}} {
		judged(t, payload.Taken(tt.answer), tt.taken, tt.refused, "")
	}
}

func judged(t *testing.T, err error, taken, refused bool, why string) {
	t.Helper()
	var no *payload.NotTaken
	if !errors.As(err, &no) {
		if !taken || err != nil {
			t.Errorf("got %v", err)
		}
		return
	}
	if taken || no.Refused != refused || !strings.Contains(err.Error(), why) || len(err.Error()) > 400 {
		t.Errorf("refused %v: %.500s", no.Refused, err)
	}
}
