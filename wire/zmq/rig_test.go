package zmq

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"brine/wire/loopback"

	"go.uber.org/goleak"

	"brine/wire/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test; a test reaches it only when something is wrong.
const patience = time.Minute

const anyPort = "tcp://127.0.0.1:0"

// samePort is an endpoint whose port stays reserved until the test ends: it can be bound again and again.
func samePort(t testing.TB) string {
	t.Helper()
	p, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Release() })
	return fmt.Sprintf("tcp://127.0.0.1:%d", p.Number)
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// startRouter serves a Router until the test ends or stop is called. stop waits for the end.
func startRouter(t testing.TB, opt RouterOptions, sink func(*Router, transport.Request)) (r *Router, stop func()) {
	t.Helper()
	r = NewRouter(opt)
	if err := r.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Serve(ctx, func(m transport.Request) { sink(r, m) }) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("Serve: got %v, want context.Canceled", err)
		}
	})
	t.Cleanup(stop)
	return r, stop
}

func echo(r *Router, m transport.Request) { _ = m.Answer(m.Payload) }

func newReq(t testing.TB, opt ReqOptions) *Req {
	q := NewReq(opt)
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Errorf("close Req: %v", err)
		}
	})
	return q
}

func newContext(t testing.TB) *Context {
	t.Helper()
	c, err := NewContext(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close Context: %v", err)
		}
	})
	return c
}

// openPub opens a Pub whose subscription changes arrive on the returned channel.
func openPub(t testing.TB, opt PubOptions) (*Pub, <-chan subscription) {
	t.Helper()
	subs := make(chan subscription, 1<<15)
	peers := map[string]int{} // the callbacks run one after the other
	vouch := opt.Audience.Subscription
	opt.Audience.Subscription = func(s transport.Subscription) bool {
		if s.Begin {
			peers[s.Topic]++
		} else {
			peers[s.Topic]--
		}
		select {
		case subs <- subscription{s.Topic, peers[s.Topic]}:
		default: // during a flood nobody reads: the socket must not wait
		}
		return vouch != nil && vouch(s)
	}
	p := NewPub(opt)
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close Pub: %v", err)
		}
	})
	return p, subs
}

type subscription struct {
	topic string
	peers int
}

// startSub serves a Sub until the test ends or stop is called. stop waits for the end.
func startSub(t testing.TB, opt SubOptions, sink func([][]byte)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- NewSub(opt).serveFrames(ctx, sink) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("Serve: got %v, want context.Canceled", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// receive takes one value or fails the test.
func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: nothing within %v", what, patience)
	}
	panic("unreachable")
}
