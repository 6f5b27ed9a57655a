package link

import (
	"context"
	"errors"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/wire/transport"
	"brine/wire/zmq"
)

func (p *requestPool) idleSockets() int {
	list := <-p.idle
	p.idle <- list
	return len(list)
}

// TestRequestPool takes the socket that was used last, and closes the others when they were idle for a while.
func TestRequestPool(t *testing.T) {
	clock := actortest.NewClock()
	p := newRequestPool(3, clock)
	take := func() *socket {
		t.Helper()
		r, err := p.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	fresh := func() *socket {
		t.Helper()
		if r := take(); r != nil {
			t.Error("a socket out of nowhere")
		}
		return &socket{RequestClient: zmq.NewReq(zmq.ReqOptions{})}
	}
	first, second, third := fresh(), fresh(), fresh()
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if _, err := p.take(ctx); !errors.Is(err, transport.ErrTimeout) {
		t.Errorf("more requests than there may be: %v", err)
	}
	p.put(first)
	p.put(second) // from now on somebody looks
	closeAll([]*socket{third})
	p.put(nil)
	for _, want := range []*socket{second, first} {
		if take() != want {
			t.Error("not the one used last")
		}
	}
	clock.Advance(time.Second)
	p.put(first)
	p.put(second)
	clock.Advance(socketIdle - time.Second)
	if n := p.idleSockets(); n != 2 {
		t.Errorf("%d sockets before they are old", n)
	}
	clock.Advance(socketIdle)
	if n := p.idleSockets(); n != 1 {
		t.Errorf("%d sockets of a quiet minion", n)
	}
	if got := take(); got != second {
		t.Error("not the one used last")
	}
	p.put(second)
	clock.Advance(2 * socketIdle)
	if n := p.idleSockets(); n != 1 || len(clock.Timers()) != 0 {
		t.Errorf("%d sockets, timers %v", n, clock.Timers())
	}
	p.close()
	if n := p.idleSockets(); n != 0 {
		t.Errorf("%d sockets after the end", n)
	}
}
