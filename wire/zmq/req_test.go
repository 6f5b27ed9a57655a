package zmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pebbe/zmq4"

	"brine/wire/transport"
)

// deadline is a context whose deadline passes when over is closed.
type deadline struct {
	context.Context
	over chan struct{}
}

func (d *deadline) Done() <-chan struct{} { return d.over }

func (d *deadline) Err() error {
	select {
	case <-d.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestTimeout(t *testing.T) {
	requests := make(chan transport.Request, 1)
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, func(r *Router, m transport.Request) {
		if string(m.Payload) == "never" {
			requests <- m
			return
		}
		echo(r, m)
	})
	q := newReq(t, ReqOptions{Endpoint: r.Addr()})
	over := &deadline{Context: context.Background(), over: make(chan struct{})}
	asked := make(chan error, 1)
	go func() {
		_, err := q.Do(over, []byte("never"))
		asked <- err
	}()
	late := receive(t, "request", requests)
	close(over.over)
	if err := receive(t, "timeout", asked); !errors.Is(err, transport.ErrTimeout) {
		t.Fatalf("unanswered: got %v, want transport.ErrTimeout", err)
	}
	// A late answer must not be taken for the answer to the next request.
	_ = late.Answer([]byte("late"))
	if got, err := q.Do(testContext(t), []byte("next")); err != nil || string(got) != "next" {
		t.Errorf("next request: got %q, %v", got, err)
	}
}

func TestCancel(t *testing.T) {
	requests := make(chan transport.Request, 1)
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, func(_ *Router, m transport.Request) { requests <- m })
	q := newReq(t, ReqOptions{Endpoint: r.Addr()})
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := q.Do(ctx, []byte("x"))
		done <- err
	}()
	receive(t, "request", requests)
	waiting := make(chan error, 1)
	go func() { // a second request waits for its turn and can be cancelled there
		_, err := q.Do(ctx, []byte("y"))
		waiting <- err
	}()
	cancel(cause)
	for _, c := range []chan error{done, waiting} {
		if err := receive(t, "cancelled request", c); !errors.Is(err, cause) {
			t.Errorf("cancelled: got %v, want the cause", err)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	q := newReq(t, ReqOptions{Endpoint: "tcp://127.0.0.1:1"})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if _, err := q.Do(ctx, []byte("x")); !errors.Is(err, transport.ErrTimeout) {
		t.Errorf("got %v, want transport.ErrTimeout", err)
	}
}

func TestReqClosed(t *testing.T) {
	q := NewReq(ReqOptions{Endpoint: "tcp://127.0.0.1:1"})
	if err := errors.Join(q.Close(), q.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Do(testContext(t), []byte("x")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("got %v, want transport.ErrClosed", err)
	}
}

func TestBadEndpoint(t *testing.T) {
	q := newReq(t, ReqOptions{Endpoint: "tcp:/nowhere"})
	for range 2 {
		if _, err := q.Do(testContext(t), []byte("x")); err == nil {
			t.Error("Do on a bad endpoint: no error")
		}
	}
}

func TestReqIsSerialised(t *testing.T) {
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, echo)
	q := newReq(t, ReqOptions{Endpoint: r.Addr()})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			want := fmt.Sprint(i)
			if got, err := q.Do(testContext(t), []byte(want)); err != nil || string(got) != want {
				t.Errorf("Do: got %q, %v, want %s", got, err, want)
			}
		})
	}
	wg.Wait()
}

func TestReconnectAfterRestart(t *testing.T) {
	for _, fast := range []bool{false, true} {
		t.Run(fmt.Sprintf("FailFast %v", fast), func(t *testing.T) {
			addr := samePort(t)
			_, stop := startRouter(t, RouterOptions{Endpoint: addr}, echo)
			q := newReq(t, ReqOptions{Endpoint: addr, FailFast: fast})
			for range 3 {
				do(t, q)
				stop()
				_, stop = startRouter(t, RouterOptions{Endpoint: addr}, echo)
			}
			do(t, q)
		})
	}
}

// do makes a request that is answered. If the connection has just ended, a request may fail with ErrLost, or without
// FailFast wait for its deadline; the next one uses a new socket.
func do(t *testing.T, q *Req) {
	t.Helper()
	for tries := 1; ; tries++ {
		ctx, cancel := context.WithTimeout(testContext(t), patience/6)
		got, err := q.Do(ctx, []byte("x"))
		cancel()
		if q.opt.FailFast && errors.Is(err, transport.ErrLost) || errors.Is(err, transport.ErrTimeout) && tries < 5 {
			continue
		}
		if err != nil || string(got) != "x" {
			t.Fatalf("Do: got %q, %v", got, err)
		}
		return
	}
}

// TestFailFast ends the connection of a request: the request ends with it, and the next one is answered.
func TestFailFast(t *testing.T) {
	addr := samePort(t)
	q := newReq(t, ReqOptions{Endpoint: addr, FailFast: true})
	for range 3 {
		requests := make(chan transport.Request, 1)
		_, stop := startRouter(t, RouterOptions{Endpoint: addr}, func(_ *Router, m transport.Request) { requests <- m })
		lost, begun := make(chan error, 1), make(chan struct{})
		go func() {
			for {
				_, err := q.Do(context.Background(), []byte("never"))
				select {
				case <-begun:
					lost <- err
					return
				default: // the end of the earlier connection has just been noticed
				}
			}
		}()
		receive(t, "request", requests)
		close(begun)
		stop()
		if err := receive(t, "end of the request", lost); !errors.Is(err, transport.ErrLost) {
			t.Fatalf("connection ended: got %v, want transport.ErrLost", err)
		}
		_, stop = startRouter(t, RouterOptions{Endpoint: addr}, echo)
		do(t, q)
		stop()
	}
}

// TestFailFastReply answers and ends the connection at once: the reply counts.
func TestFailFastReply(t *testing.T) {
	addr := samePort(t)
	for range 20 {
		answered := make(chan struct{})
		r, stop := startRouter(t, RouterOptions{Endpoint: addr}, func(r *Router, m transport.Request) {
			echo(r, m)
			close(answered)
		})
		q := newReq(t, ReqOptions{Endpoint: r.Addr(), FailFast: true})
		got := make(chan error, 1)
		go func() {
			_, err := q.Do(context.Background(), []byte("x"))
			got <- err
		}()
		receive(t, "answer", answered)
		stop()
		if err := receive(t, "reply", got); err != nil && !errors.Is(err, transport.ErrLost) {
			t.Error(err)
		}
	}
}

// TestFailFastWaitsForTheFirst: a request waits while no server listens, and while a server closes connections before
// their handshake.
func TestFailFastWaitsForTheFirst(t *testing.T) {
	addr := samePort(t)
	q := newReq(t, ReqOptions{Endpoint: addr, FailFast: true})
	got := make(chan error, 1)
	go func() {
		_, err := q.Do(context.Background(), []byte("x"))
		got <- err
	}()
	hangUp(t, addr, 2)
	startRouter(t, RouterOptions{Endpoint: addr}, echo)
	if err := receive(t, "reply", got); err != nil {
		t.Error(err)
	}
}

// hangUp accepts n connections at addr and closes each before it sends a byte.
func hangUp(t *testing.T, addr string, n int) {
	t.Helper()
	l, err := net.Listen("tcp", strings.TrimPrefix(addr, "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range n {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

// TestFailFastIdle ends an idle connection: the next request uses a new one and is answered.
func TestFailFastIdle(t *testing.T) {
	addr := samePort(t)
	_, stop := startRouter(t, RouterOptions{Endpoint: addr}, echo)
	q := newReq(t, ReqOptions{Endpoint: addr, FailFast: true})
	do(t, q)
	before := q.sock
	stop()
	for limit := time.After(patience); !q.down.Load(); {
		select {
		case <-time.After(time.Millisecond):
		case <-limit:
			t.Fatal("the end of the connection is not noticed")
		}
	}
	if err := q.open(); err != nil { // Do begins with this, while no server listens
		t.Fatal(err)
	}
	if q.sock == before {
		t.Error("the next request waits for the socket that has lost its connection")
	}
	startRouter(t, RouterOptions{Endpoint: addr}, echo)
	if got, err := q.Do(testContext(t), []byte("x")); err != nil || string(got) != "x" {
		t.Errorf("Do: got %q, %v", got, err)
	}
}

// TestStrangeReplies: replies that are not [empty, payload], and more replies than requests.
func TestStrangeReplies(t *testing.T) {
	c := newContext(t)
	raw, err := c.socket(zmq4.ROUTER)
	if err != nil {
		t.Fatal(err)
	}
	defer c.release(raw)
	if err := errors.Join(raw.SetLinger(0), raw.SetRcvtimeo(patience), raw.Bind(anyPort)); err != nil {
		t.Fatal(err)
	}
	addr, err := raw.GetLastEndpoint()
	if err != nil {
		t.Fatal(err)
	}
	q := newReq(t, ReqOptions{Endpoint: addr})
	var peer sync.WaitGroup
	defer peer.Wait() // the socket may be closed only when no goroutine uses it
	for _, want := range []string{"one", "two"} {
		peer.Go(func() { answerStrangely(t, raw) })
		if got, err := q.Do(testContext(t), []byte(want)); err != nil || string(got) != want {
			t.Fatalf("Do: got %q, %v, want %s", got, err, want)
		}
		peer.Wait()
		awaitInput(t, q)
	}
	if n := q.Malformed(); n != 4 {
		t.Errorf("Malformed: got %d, want 4", n)
	}
}

// answerStrangely answers one request with two bad replies, a good one, and one without a request.
func answerStrangely(t *testing.T, raw *zmq4.Socket) {
	m, err := raw.RecvMessage(0)
	if err != nil || len(m) != 3 {
		t.Errorf("request: got %q, %v", m, err)
		return
	}
	for _, reply := range [][]string{{m[0], "no delimiter"}, {m[0], "", "a", "b"}, {m[0], "", m[2]},
		{m[0], "", "more"}} {
		if _, err := raw.SendMessage(reply); err != nil {
			t.Error(err)
		}
	}
}

// awaitInput waits until a message has arrived that no request waits for.
func awaitInput(t *testing.T, q *Req) {
	t.Helper()
	p := zmq4.NewPoller()
	p.Add(q.sock.raw, zmq4.POLLIN)
	if ready, err := p.Poll(patience); err != nil || len(ready) == 0 {
		t.Fatalf("reply nobody asked for: got %v, %v", ready, err)
	}
}

// TestReplyInRoom: a large reply that fits is written into the lent memory, any other into a slice of its own. The next
// request does not use memory that was lent to an earlier one.
func TestReplyInRoom(t *testing.T) {
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, echo)
	q := newReq(t, ReqOptions{Endpoint: r.Addr()})
	room := make([]byte, 0, 100000)
	for _, tt := range []struct {
		size int
		room []byte
		in   bool
	}{{90000, room, true}, {100001, room, false}, {10, room, false}, {90000, nil, false}, {100000, room, true}} {
		text := strings.Repeat("r", tt.size)
		got, err := q.DoIn(testContext(t), []byte(text), tt.room)
		if err != nil || string(got) != text {
			t.Fatalf("%d bytes: %d, %v", tt.size, len(got), err)
		}
		if in := &got[0] == &room[:1][0]; in != tt.in {
			t.Errorf("%d bytes: in the room: %v", tt.size, in)
		}
	}
}
