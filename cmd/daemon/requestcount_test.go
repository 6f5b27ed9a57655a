package daemon

import (
	"os"
	"syscall"
	"testing"
)

// TestRequestCount: a request that arrives on both ways counts once. Two requests on one way count twice.
func TestRequestCount(t *testing.T) {
	for _, tt := range []struct {
		ways string // o: to this process, h: forwarded by the parent
		want int
	}{
		{"o", 1}, {"h", 1}, {"oh", 1}, {"ho", 1}, {"oo", 2}, {"hh", 2}, {"ohh", 2}, {"hoo", 2}, {"hoho", 2},
		{"oooohh", 2},
	} {
		var c requestCount
		to := make(chan os.Signal, 2)
		for _, way := range tt.ways {
			if way == 'o' {
				c.own++
			} else {
				c.handed++
			}
			c.tell(to, syscall.SIGTERM)
		}
		if len(to) != tt.want {
			t.Errorf("%s: %d requests, want %d", tt.ways, len(to), tt.want)
		}
	}
}
