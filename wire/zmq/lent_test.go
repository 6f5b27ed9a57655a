package zmq

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"brine/wire/transport"
)

// loan is memory outside Go's heap from which answers are sent.
type loan struct {
	mem []byte
	out *atomic.Int32
}

func newLoan(t *testing.T, size int) loan {
	t.Helper()
	mem, err := syscall.Mmap(-1, 0, size+64, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	l := loan{mem[:size], (*atomic.Int32)(unsafe.Pointer(&mem[size]))}
	t.Cleanup(func() {
		if l.back(t); syscall.Munmap(mem) != nil {
			t.Error("memory cannot be given back")
		}
	})
	return l
}

// back waits until libzmq no longer needs the memory.
func (l loan) back(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); l.out.Load() != 0; {
		if time.Now().After(end) {
			t.Fatal("libzmq has not given the memory back")
		}
		<-time.After(time.Millisecond)
	}
}

// TestAnswerLent: answers arrive unchanged although their memory is reused as soon as libzmq has returned it.
func TestAnswerLent(t *testing.T) {
	l := newLoan(t, 1<<20)
	r, _ := startRouter(t, RouterOptions{Endpoint: anyPort}, func(r *Router, m transport.Request) {
		l.back(t)
		n := copy(l.mem, bytes.Repeat(m.Payload, len(l.mem)/len(m.Payload)))
		if err := m.AnswerLent(l.mem[:n], l.out); err != nil {
			t.Error(err)
		}
	})
	q := newReq(t, ReqOptions{Endpoint: r.Addr()})
	for i := range 40 {
		text := []byte{'a' + byte(i), 1, 2, byte(i)}
		got, err := q.Do(testContext(t), text)
		if err != nil || !bytes.Equal(got, bytes.Repeat(text, 1<<18)) {
			t.Fatalf("answer %d: %d bytes, %v", i, len(got), err)
		}
	}
}

// askedByTheDeaf is a Router with a request of a peer that stops reading after it. The peer goes when the test ends.
func askedByTheDeaf(t *testing.T) (r *Router, m transport.Request, stop func()) {
	t.Helper()
	held := make(chan transport.Request, 1)
	r, stop = startRouter(t, RouterOptions{Endpoint: anyPort}, func(_ *Router, m transport.Request) { held <- m })
	addr, deaf := deafRelay(t, r.Addr())
	q := NewReq(ReqOptions{Endpoint: addr})
	asked := make(chan error, 1)
	ctx, cancel := context.WithCancel(testContext(t))
	go func() {
		_, err := q.Do(ctx, []byte("x"))
		asked <- err
	}()
	m = receive(t, "request", held)
	close(deaf)
	t.Cleanup(func() {
		cancel()
		<-asked
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, m, stop
}

// TestLentToNobody: the memory is returned at once if its answer cannot be sent, and at the latest when the Router or
// the peer ends.
func TestLentToNobody(t *testing.T) {
	r, m, stop := askedByTheDeaf(t)
	nobody := &peer{router: r, identity: []byte("nobody"), account: m.Peer.(*peer).account}
	l := newLoan(t, 1<<20)
	if err := nobody.AnswerLent(l.mem, l.out); !errors.Is(err, transport.ErrNoPeer) || l.out.Load() != 0 {
		t.Errorf("to nobody: %v, out is %d", err, l.out.Load())
	}
	stop()
	if err := m.AnswerLent(l.mem, l.out); !errors.Is(err, transport.ErrClosed) || l.out.Load() != 0 {
		t.Errorf("after the end: %v, out is %d", err, l.out.Load())
	}
}

// TestLentToTheDeaf: memory of an answer that the peer does not read stays lent until the connection ends.
func TestLentToTheDeaf(t *testing.T) {
	const many = 64 // megabytes: more than the network buffers
	loans := make([]loan, many)
	for i := range loans {
		loans[i] = newLoan(t, 1<<20)
	}
	_, m, stop := askedByTheDeaf(t)
	for _, l := range loans {
		if err := m.AnswerLent(l.mem, l.out); err != nil {
			t.Fatal(err)
		}
	}
	if loans[many-1].out.Load() == 0 {
		t.Error("the last megabyte is back although nobody has read it")
	}
	stop() // after the linger time
	for _, l := range loans {
		l.back(t)
	}
}
