package link

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// These limits apply to one direction of a connection: so many pieces of so many bytes are read before they are
// passed on. Further data waits in the kernel of the sender.
const (
	pieceSize   = 16 << 10
	piecesAhead = 256
)

// flow is one direction of a Proxy: its faults and its counter.
type flow struct {
	bytes atomic.Uint64

	mu            sync.Mutex
	open          chan struct{} // closed while the direction has no cut
	isCut         bool
	delay, jitter time.Duration
	size          int           // size of a piece during a trickle, in bytes; 0: whole pieces
	gap           time.Duration // pause between such pieces
}

func newFlow() *flow {
	f := &flow{open: make(chan struct{})}
	close(f.open)
	return f
}

func (f *flow) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.isCut {
		f.isCut, f.open = true, make(chan struct{})
	}
}

func (f *flow) setDelay(delay, jitter time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delay, f.jitter = max(delay, 0), max(jitter, 0)
}

func (f *flow) setTrickle(n int, gap time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.size, f.gap = max(n, 0), gap
}

func (f *flow) restore() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delay, f.jitter, f.size, f.gap = 0, 0, 0, 0
	if f.isCut {
		f.isCut = false
		close(f.open)
	}
}

// wait returns true as soon as the direction has no cut, and false if done ends first.
func (f *flow) wait(done <-chan struct{}) bool {
	for {
		f.mu.Lock()
		open, isCut := f.open, f.isCut
		f.mu.Unlock()
		if !isCut {
			return true
		}
		select {
		case <-open:
		case <-done:
			return false
		}
	}
}

// late is the delay of a piece that enters now.
func (f *flow) late() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.jitter <= 0 {
		return f.delay
	}
	return f.delay + rand.N(f.jitter)
}

// next is how many of n bytes may pass at once, and the wait after them.
func (f *flow) next(n int) (int, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size <= 0 {
		return n, 0
	}
	return min(n, f.size), f.gap
}

// piece holds the bytes of one read, and the time of their arrival.
type piece struct {
	data []byte
	err  error // the error that ended the direction
	due  time.Time
}

// pump passes data from one side on until that side or the pair has ended.
func (f *flow) pump(ctx context.Context, c *pair, from, to *net.TCPConn) {
	pieces := make(chan piece, piecesAhead)
	var reader sync.WaitGroup
	reader.Go(func() { f.read(ctx, from, pieces) })
	defer reader.Wait()
	for p := range pieces {
		if !pause(time.Until(p.due), ctx.Done()) || !f.pass(ctx, c, to, p) {
			return
		}
	}
}

// read passes on the pieces that enter, the last with the error that ended it.
func (f *flow) read(ctx context.Context, from *net.TCPConn, pieces chan<- piece) {
	defer close(pieces)
	var last time.Time
	for {
		p := piece{data: make([]byte, pieceSize)}
		n, err := from.Read(p.data)
		p.data, p.err = p.data[:n:n], err
		if p.due = time.Now().Add(f.late()); p.due.Before(last) {
			p.due = last
		}
		last = p.due
		select {
		case pieces <- p:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// pass writes one piece as soon as the direction has no cut. If the sender has ended the direction, pass ends
// it, too. It returns false if nothing can be written any more.
func (f *flow) pass(ctx context.Context, c *pair, to *net.TCPConn, p piece) bool {
	for len(p.data) > 0 {
		n, gap := f.next(len(p.data))
		if !f.wait(ctx.Done()) {
			return false
		}
		n, err := to.Write(p.data[:n])
		f.bytes.Add(uint64(n))
		if err != nil {
			c.kill(true)
			return false
		}
		if p.data = p.data[n:]; !pause(gap, ctx.Done()) {
			return false
		}
	}
	switch {
	case p.err == nil:
		return true
	case !f.wait(ctx.Done()):
	case errors.Is(p.err, io.EOF):
		_ = to.CloseWrite() // it may have ended already
	default: // a reset
		c.kill(true)
	}
	return false
}

// pause waits for d and returns true, or false when done ends first.
func pause(d time.Duration, done <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-done:
		return false
	}
}

// pair is one connection to the Proxy with its connection to the target.
type pair struct {
	in     *net.TCPConn
	cancel context.CancelFunc // called when the pair has ended

	mu   sync.Mutex
	out  *net.TCPConn // nil until the target has accepted
	over bool
}

// join adds the connection to the target. If the pair has ended, it closes that connection and returns false.
func (c *pair) join(out *net.TCPConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		end(out, true)
		return false
	}
	c.out = out
	_ = out.SetLinger(-1) // the system's default
	return true
}

// kill closes both connections, with a reset if reset is set. It returns false if they had ended before.
func (c *pair) kill(reset bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	c.over = true
	c.cancel()
	end(c.in, reset)
	if c.out != nil {
		end(c.out, reset)
	}
	return true
}

// end closes a connection. With SO_LINGER 0 the other side gets a reset.
func end(c *net.TCPConn, reset bool) {
	if reset {
		_ = c.SetLinger(0) // a lost connection needs none
	}
	_ = c.Close()
}
