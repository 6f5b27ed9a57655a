package zmq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pebbe/zmq4"
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
	requests := make(chan Message, 1)
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, func(r *Router, m Message) {
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
	if err := receive(t, "timeout", asked); !errors.Is(err, ErrTimeout) {
		t.Fatalf("unanswered: got %v, want ErrTimeout", err)
	}
	// The answer that comes too late must not be taken for the answer to the next request.
	_ = r.Reply(late.Peer, []byte("late"))
	if got, err := q.Do(testContext(t), []byte("next")); err != nil || string(got) != "next" {
		t.Errorf("next request: got %q, %v", got, err)
	}
}

func TestCancel(t *testing.T) {
	requests := make(chan Message, 1)
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, func(_ *Router, m Message) { requests <- m })
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
	go func() { // a second one waits for its turn and can be cancelled there
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
	if _, err := q.Do(ctx, []byte("x")); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want ErrTimeout", err)
	}
}

func TestReqClosed(t *testing.T) {
	q := NewReq(ReqOptions{Endpoint: "tcp://127.0.0.1:1"})
	if err := errors.Join(q.Close(), q.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Do(testContext(t), []byte("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
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
	first, stop := startRouter(t, RouterOptions{Endpoint: anyPort}, echo)
	events := make(chan Event, 100)
	q := newReq(t, ReqOptions{Endpoint: first.Addr(), OnEvent: func(e Event) { events <- e }})
	if _, err := q.Do(testContext(t), []byte("one")); err != nil {
		t.Fatal(err)
	}
	if e := receive(t, "event", events); e.Kind != Connected || e.Peer != first.Addr() {
		t.Errorf("event: got %v %s, want connected", e.Kind, e.Peer)
	}
	addr := first.Addr()
	stop()
	if e := receive(t, "event", events); e.Kind != Disconnected {
		t.Errorf("event: got %v, want disconnected", e.Kind)
	}
	startRouter(t, RouterOptions{Endpoint: addr}, echo)
	if got, err := q.Do(testContext(t), []byte("two")); err != nil || string(got) != "two" {
		t.Errorf("after the restart: got %q, %v", got, err)
	}
}

// Replies that are not [empty, payload], and more replies than requests.
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
	defer peer.Wait() // the socket may be closed when nobody uses it any more
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

// answerStrangely answers one request with two bad replies, a good one, and one that nobody asked for.
func answerStrangely(t *testing.T, raw *zmq4.Socket) {
	m, err := raw.RecvMessage(0)
	if err != nil || len(m) != 3 {
		t.Errorf("request: got %q, %v", m, err)
		return
	}
	for _, reply := range [][]string{{m[0], "no delimiter"}, {m[0], "", "a", "b"}, {m[0], "", m[2]}, {m[0], "", "more"}} {
		if _, err := raw.SendMessage(reply); err != nil {
			t.Error(err)
		}
	}
}

// awaitInput waits until a message is there that no request waits for.
func awaitInput(t *testing.T, q *Req) {
	t.Helper()
	p := zmq4.NewPoller()
	p.Add(q.sock.raw, zmq4.POLLIN)
	if ready, err := p.Poll(patience); err != nil || len(ready) == 0 {
		t.Fatalf("reply nobody asked for: got %v, %v", ready, err)
	}
}
