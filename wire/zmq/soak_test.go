package zmq

import (
	"context"
	"encoding/binary"
	"flag"
	"sync"
	"testing"
	"time"

	"brine/wire/transport"
)

var soak = flag.Duration("soak", time.Second, "how long the soak tests run, each")

// noSafety is longer than any test: a lost wake-up then shows as a request without an answer.
const noSafety = time.Hour

// TestSoakRequests: many clients in closed loops. Another goroutine than the reader answers them, because that is where
// wake-ups were lost (a send takes the signal that the reader waits for).
func TestSoakRequests(t *testing.T) {
	jobs := make(chan transport.Request, 1024)
	r := NewRouter(RouterOptions{Endpoint: anyPort})
	r.sock.safety = noSafety
	if err := r.Listen(); err != nil {
		t.Fatal(err)
	}
	addr := r.Addr()
	serve, stop := context.WithCancel(context.Background())
	var servers sync.WaitGroup
	servers.Go(func() { _ = r.Serve(serve, func(m transport.Request) { jobs <- m }) })
	for range 4 {
		servers.Go(func() {
			for m := range jobs {
				_ = m.Answer(m.Payload)
			}
		})
	}
	c := newContext(t)
	end := time.Now().Add(*soak)
	var clients sync.WaitGroup
	for i := range 32 {
		clients.Go(func() { hammer(t, c, addr, uint64(i), end) })
	}
	clients.Wait()
	stop()
	close(jobs)
	servers.Wait()
	t.Logf("%+v", r.Stats())
}

// hammer sends numbered requests until end. Every few requests it takes a fresh connection, which pauses its traffic,
// so that busy and idle phases of the server alternate.
func hammer(t *testing.T, c *Context, addr string, id uint64, end time.Time) {
	q := newReq(t, ReqOptions{Endpoint: addr, Context: c})
	for n := uint64(0); time.Now().Before(end); n++ {
		if q.sock != nil {
			q.sock.safety = noSafety
		}
		request := binary.BigEndian.AppendUint64(nil, id<<32|n)
		reply, err := q.Do(testContext(t), request)
		if err != nil || string(reply) != string(request) {
			t.Errorf("client %d, request %d: got %x, %v", id, n, reply, err)
			return
		}
		if n%512 == 511 {
			q.drop()
		}
	}
}

// TestSoakPublications: one publisher and several subscribers in lock step. Each publication is sent when all have the
// one before, so every reader goes to sleep and is woken each time.
func TestSoakPublications(t *testing.T) {
	const readers = 8
	p, subs := openPub(t, PubOptions{Endpoint: anyPort})
	c := newContext(t)
	got := make(chan uint64, readers)
	for range readers {
		s := NewSub(SubOptions{Endpoint: p.Addr(), Context: c})
		s.sock.safety = noSafety
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			done <- s.serveFrames(ctx, func(f [][]byte) { got <- binary.BigEndian.Uint64(f[0]) })
		}()
		t.Cleanup(func() { cancel(); <-done })
		receive(t, "subscription", subs)
	}
	end := time.Now().Add(*soak)
	n := uint64(0)
	for ; time.Now().Before(end); n++ {
		if err := p.Send(binary.BigEndian.AppendUint64(nil, n)); err != nil {
			t.Fatal(err)
		}
		for range readers {
			if v := receive(t, "publication", got); v != n {
				t.Fatalf("got publication %d, want %d", v, n)
			}
		}
	}
	t.Logf("%d publications", n)
}
