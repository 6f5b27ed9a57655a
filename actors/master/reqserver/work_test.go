package reqserver

import (
	"testing"
)

func TestReadyFrees(t *testing.T) {
	fresh, taken := new(Work), new(Work)
	taken.taker.Store(2)
	for _, tt := range []struct {
		name string
		say  WorkerReady
		hand *Work
		want bool
	}{
		{"first start", WorkerReady{Life: 1}, nil, true},
		{"done", WorkerReady{Life: 2, Done: taken}, taken, true},
		{"left behind, successor is busy", WorkerReady{Life: 1, Done: fresh}, taken, false},
		{"left behind, successor is idle", WorkerReady{Life: 1, Done: fresh}, nil, false},
		{"started, the predecessor died of it", WorkerReady{Life: 3}, taken, true},
		{"started, and took it since", WorkerReady{Life: 2}, taken, false},
		{"started, it waits in the mailbox", WorkerReady{Life: 3}, fresh, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.say.frees(tt.hand); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
