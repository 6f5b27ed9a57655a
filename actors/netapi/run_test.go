package netapi

import (
	"testing"
	"time"

	"brine/wire/payload"
)

// TestSeconds: a wait is a number or the text of one. Anything else is refused as a whole.
func TestSeconds(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want time.Duration
		bad  bool
	}{
		{nil, 0, false}, {"", 0, false}, {int64(5), 5 * time.Second, false}, {1.5, 1500 * time.Millisecond, false},
		{"2.5", 2500 * time.Millisecond, false}, {int64(-1), 0, false}, {"nan", 0, false}, {"inf", maxWait, false},
		{int64(1) << 60, maxWait, false}, {"30s", 0, true}, {"soon", 0, true}, {"1 2", 0, true}, {[]any{}, 0, true},
	} {
		got, err := seconds(payload.M("timeout", tt.v), "timeout")
		if got != tt.want || (err != nil) != tt.bad {
			t.Errorf("%v: %v, %v", tt.v, got, err)
		}
	}
}
