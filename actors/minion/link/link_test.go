package link

import (
	"testing"
	"time"
)

// TestHeldBytes: publications that wait for a sign-in are bounded by bytes, too; the newest always finds room.
func TestHeldBytes(t *testing.T) {
	h := &heldFrames{most: 10, mostBytes: 100}
	for _, tt := range []struct{ size, dropped, left int }{{40, 0, 1}, {40, 0, 2}, {40, 1, 2}, {200, 2, 1},
		{10, 1, 1}} {
		if got := h.add(make([]byte, tt.size)); got != tt.dropped || len(h.list) != tt.left {
			t.Errorf("%d bytes: %d dropped, %d left", tt.size, got, len(h.list))
		}
	}
	if h.pop(); h.bytes != 0 {
		t.Errorf("%d bytes of none", h.bytes)
	}
}

func TestRoundWait(t *testing.T) {
	for _, tt := range []struct {
		n                 int
		first, most, want time.Duration
	}{
		{1, 10, 0, 10}, {5, 10, 0, 10}, {1, 10, 25, 10}, {2, 10, 25, 20}, {3, 10, 25, 25}, {9, 10, 10, 10},
	} {
		if got := roundWait(tt.n, tt.first, tt.most); got != tt.want {
			t.Errorf("roundWait(%d, %d, %d) = %d, want %d", tt.n, tt.first, tt.most, got, tt.want)
		}
	}
}
