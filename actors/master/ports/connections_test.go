package ports

import "testing"

func TestPeersOf(t *testing.T) {
	for _, tt := range []struct {
		most        int
		descriptors uint64
		tools, want int
	}{
		{0, 64, 24, leastPeers},
		{0, 128, 48, leastPeers},
		{0, 1024, 384, 256},
		{0, 100_000, 3072, 45_307},
		{100, 100_000, 3072, 100},
		{0, ^uint64(0), 3072, 503_314_912},
	} {
		if got := peersOf(tt.most, tt.descriptors, tt.tools); got != tt.want {
			t.Errorf("%+v: got %d", tt, got)
		}
	}
}
