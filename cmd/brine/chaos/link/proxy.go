package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"brine/wire/loopback"
)

// Direction is the direction in which a fault acts.
type Direction int

// Both is the zero value.
const (
	Both       Direction = iota
	ToTarget             // data from a minion
	FromTarget           // data from the master
)

// acceptPause is the pause after a failed accept, for example for lack of descriptors.
const acceptPause = 10 * time.Millisecond

// ErrClosed means that the Proxy was closed.
var ErrClosed = errors.New("link: proxy is closed")

// Stats holds counters since the Proxy was made.
type Stats struct {
	Accepted   uint64 // accepted connections
	Failed     uint64 // of these, connections whose target was not reachable; they were reset
	Reset      uint64 // connections that Reset has ended
	Open       int    // open connections
	ToTarget   uint64 // bytes passed on to the target
	FromTarget uint64 // bytes passed back
}

// Proxy is a port of 127.0.0.1 that leads to a target and can be broken. Its port number stays the same across
// Refuse and Restore. No other user of wire/loopback gets it before Close.
type Proxy struct {
	target string
	dial   func(context.Context) (net.Conn, error)
	port   *loopback.Port
	flows  [2]*flow // to the target and from it
	work   sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	pairs    map[*pair]struct{}
	closed   bool

	accepted, failed, reset atomic.Uint64
}

// New opens a port that leads to target, which is host:port. The target need not exist yet. Errors:
// loopback.ErrNoPort, or that of listening.
func New(target string) (*Proxy, error) {
	return newProxy(target, func(ctx context.Context) (net.Conn, error) {
		return resetting.DialContext(ctx, "tcp", target)
	})
}

// resetting makes connections that end with a reset unless that is changed, because the target may have
// accepted a connection attempt that is given up.
var resetting = net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
	var err error
	ctlErr := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptLinger(int(fd), syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	})
	return errors.Join(ctlErr, err)
}}

func newProxy(target string, dial func(context.Context) (net.Conn, error)) (*Proxy, error) {
	port, err := loopback.Reserve()
	if err != nil {
		return nil, fmt.Errorf("proxy of %s: %w", target, err)
	}
	p := &Proxy{target: target, dial: dial, port: port, flows: [2]*flow{newFlow(), newFlow()},
		pairs: map[*pair]struct{}{}}
	if err := p.accept(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Port is the number of the port that the Proxy listens on.
func (p *Proxy) Port() int { return p.port.Number }

// Addr is the address of the Proxy, host:port.
func (p *Proxy) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port.Number)) }

// Cut blocks all data in one direction or both. Connections stay open, and sent data waits, including the end
// of a connection. New connections are accepted but carry nothing. A piece whose delivery has begun still
// arrives.
func (p *Proxy) Cut(d Direction) { p.each(d, (*flow).cut) }

// Delay delays data that is sent from now on by delay and a random time of up to jitter. It keeps the order.
func (p *Proxy) Delay(d Direction, delay, jitter time.Duration) {
	p.each(d, func(f *flow) { f.setDelay(delay, jitter) })
}

// Trickle lets n bytes through, then waits, then lets the next n through.
func (p *Proxy) Trickle(d Direction, n int, wait time.Duration) {
	p.each(d, func(f *flow) { f.setTrickle(n, wait) })
}

// Reset ends all open connections with a reset (RST) to both sides, even those of a cut link. Data on the way
// is lost. New connections are accepted at once. It returns the number of ended connections.
func (p *Proxy) Reset() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for c := range p.pairs {
		if c.kill(true) {
			n++
		}
	}
	p.reset.Add(uint64(n))
	return n
}

// Refuse closes the port, so that new connections are refused. Open connections stay. Reset ends them.
func (p *Proxy) Refuse() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refuse()
}

func (p *Proxy) refuse() error {
	if p.listener == nil {
		return nil
	}
	err := p.listener.Close()
	p.listener = nil
	if err != nil {
		return fmt.Errorf("close port %d: %w", p.port.Number, err)
	}
	return nil
}

// Restore ends all faults. Waiting data passes in its order, and the same port accepts connections again. Data
// that was sent under a Delay still arrives at its time. Errors: ErrClosed, or that of listening.
func (p *Proxy) Restore() error {
	p.each(Both, (*flow).restore)
	return p.accept()
}

// Close ends all connections, closes the port and waits until all goroutines of the Proxy have ended. A second
// Close does nothing.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	err := p.refuse()
	for c := range p.pairs {
		c.kill(false)
	}
	p.mu.Unlock()
	p.work.Wait()
	return errors.Join(err, p.port.Release())
}

// Stats reads the counters.
func (p *Proxy) Stats() Stats {
	p.mu.Lock()
	open := len(p.pairs)
	p.mu.Unlock()
	return Stats{Accepted: p.accepted.Load(), Failed: p.failed.Load(), Reset: p.reset.Load(), Open: open,
		ToTarget: p.flows[0].bytes.Load(), FromTarget: p.flows[1].bytes.Load()}
}

func (p *Proxy) each(d Direction, change func(*flow)) {
	if d != FromTarget {
		change(p.flows[0])
	}
	if d != ToTarget {
		change(p.flows[1])
	}
}

// fail ends a connection whose target was not reachable. It counts the failure before the client sees the end.
func (p *Proxy) fail(c *pair) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.kill(true) {
		p.failed.Add(1)
	}
}

// accept opens the port unless it is open.
func (p *Proxy) accept() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return ErrClosed
	case p.listener != nil:
		return nil
	}
	l, err := net.Listen("tcp", p.Addr())
	if err != nil {
		return fmt.Errorf("proxy of %s: %w", p.target, err)
	}
	p.listener = l
	p.work.Go(func() { p.take(l) })
	return nil
}

// take accepts connections until the listener is closed.
func (p *Proxy) take(l net.Listener) {
	for {
		in, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			pause(acceptPause, nil)
			continue
		}
		p.admit(l, in.(*net.TCPConn))
	}
}

// admit starts to carry a connection, unless the port was closed meanwhile.
func (p *Proxy) admit(l net.Listener, in *net.TCPConn) {
	ctx, cancel := context.WithCancel(context.Background())
	c := &pair{in: in, cancel: cancel}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != l {
		c.kill(true)
		return
	}
	p.accepted.Add(1)
	p.pairs[c] = struct{}{}
	p.work.Go(func() {
		p.carry(ctx, c)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.pairs, c)
	})
}

// carry connects to the target as soon as neither direction has a cut. It passes data on until both sides have
// ended.
func (p *Proxy) carry(ctx context.Context, c *pair) {
	defer c.kill(false)
	if !p.flows[0].wait(ctx.Done()) || !p.flows[1].wait(ctx.Done()) {
		return
	}
	out, err := p.dial(ctx)
	if err != nil {
		p.fail(c)
		return
	}
	if !c.join(out.(*net.TCPConn)) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.flows[0].pump(ctx, c, c.in, c.out) })
	both.Go(func() { p.flows[1].pump(ctx, c, c.out, c.in) })
	both.Wait()
}
