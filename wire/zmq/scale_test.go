package zmq

import (
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestManySockets opens more sockets in one context than libzmq allows by default: a test fleet lives in one process.
func TestManySockets(t *testing.T) {
	const clients = 2100
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 6*clients {
		t.Skip("not enough file descriptors")
	}
	r, stop := startRouter(t, RouterOptions{Endpoint: anyPort}, echo)
	c := newContext(t)
	var wg sync.WaitGroup
	for range clients {
		q := newReq(t, ReqOptions{Endpoint: r.Addr(), Context: c})
		wg.Go(func() {
			if _, err := q.Do(testContext(t), []byte("x")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	stop() // a peer may have its reply before it is counted
	if n := r.Stats().Replied; n != clients {
		t.Errorf("%d replies, want %d", n, clients)
	}
}
