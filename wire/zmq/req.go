package zmq

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pebbe/zmq4"

	"brine/wire/transport"
)

// The first and the longest pause between two attempts to connect. libzmq doubles the pause each time, and adds up to
// as much again at random. Unlike Salt: half a second instead of its RECONNECT_IVL_MAX of 5 s, and a fifth of libzmq's
// first pause. So a client soon finds a master that was killed and started again.
const (
	reqReconnectMin = 20 * time.Millisecond
	reqReconnectMax = 500 * time.Millisecond
)

// ReqOptions are the options of a Req.
type ReqOptions struct {
	Endpoint         string        // see ConnectEndpoint
	IPv6             bool          // option ipv6; an address in brackets sets it by itself
	Identity         string        // 0 to 255 bytes; empty: libzmq chooses a new one for each socket
	Keepalive        *Keepalive    // options tcp_keepalive...; nil: 1, 300, -1, -1
	HeartbeatIvl     time.Duration // 0 is off, as in Salt
	HeartbeatTimeout time.Duration
	ConnectTimeout   time.Duration // of one attempt; 0: 10 s
	Context          *Context      // nil: one of its own
	FailFast         bool          // a request ends with its connection (transport.ErrLost), not at its deadline
}

// Req is the client end of the request port. It uses a DEALER socket that writes what a REQ would. A REQ is stuck after
// a lost reply; here the socket is replaced after a request without an answer. Requests of several goroutines are sent
// one after another. A Req has no goroutine of its own.
type Req struct {
	opt  ReqOptions
	turn chan struct{} // holds one token: its holder may use sock
	sock *socket       // nil until the first request and after an unanswered one

	// With FailFast, the goroutine that follows the connection uses these fields too.
	down   atomic.Bool                             // sock has lost its connection
	up     atomic.Bool                             // sock has a connection
	upNow  chan struct{}                           // holds one token after up became true
	flying atomic.Pointer[context.CancelCauseFunc] // cancels the running request

	closed    atomic.Bool
	malformed atomic.Uint64
}

// NewReq makes a Req; the socket is opened by the first request.
func NewReq(opt ReqOptions) *Req {
	q := &Req{opt: opt, turn: make(chan struct{}, 1), upNow: make(chan struct{}, 1)}
	q.turn <- struct{}{}
	return q
}

// Dialer returns a function that makes a new Req with these options at each call.
func Dialer(opt ReqOptions) func() transport.RequestClient {
	return func() transport.RequestClient { return NewReq(opt) }
}

// Do sends one request and waits for its reply (see transport.RequestClient). Only a Req with FailFast returns
// transport.ErrUnconnected and transport.ErrLost.
func (q *Req) Do(ctx context.Context, payload []byte) ([]byte, error) {
	return q.DoIn(ctx, payload, nil)
}

// DoIn is Do with memory for the reply: a large reply that fits is written into room, any other into a slice of its
// own.
func (q *Req) DoIn(ctx context.Context, payload, room []byte) ([]byte, error) {
	select {
	case <-q.turn:
	case <-ctx.Done():
		return nil, q.ended(ctx)
	}
	defer func() { q.turn <- struct{}{} }()
	if q.closed.Load() {
		return nil, transport.ErrClosed
	}
	reply, err := q.exchange(ctx, payload, room)
	if err != nil {
		_ = q.drop() // a late reply must not answer the next request
		return nil, err
	}
	return reply, nil
}

// Connect opens the socket and waits for a connection. If ctx ends first, it returns the cause of ctx. It needs
// FailFast.
func (q *Req) Connect(ctx context.Context) error {
	select {
	case <-q.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { q.turn <- struct{}{} }()
	if q.closed.Load() {
		return transport.ErrClosed
	}
	if err := q.open(); err != nil {
		return err
	}
	for !q.up.Load() {
		select {
		case <-q.upNow:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Malformed is the number of dropped replies: those that were not [empty, payload].
func (q *Req) Malformed() uint64 { return q.malformed.Load() }

// Close waits for a running request and closes the socket. Do returns transport.ErrClosed from then on.
func (q *Req) Close() error {
	q.closed.Store(true)
	<-q.turn
	defer func() { q.turn <- struct{}{} }()
	return q.drop()
}

func (q *Req) exchange(ctx context.Context, payload, room []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, q.ended(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q.flying.Store(&cancel)
	defer q.flying.Store(nil)
	if err := q.open(); err != nil {
		return nil, err
	}
	if err := q.sock.discard(); err != nil { // messages that no request waits for
		return nil, err
	}
	if err := q.sock.send(nil, payload); err != nil {
		return nil, fmt.Errorf("send request to %s: %w", q.opt.Endpoint, err)
	}
	q.sock.lend(room)
	defer q.sock.lend(nil)
	return q.await(ctx)
}

// open makes the socket. If its connection was lost, it makes a new one: libzmq may pause before it tries again, but a
// new socket connects at once.
func (q *Req) open() error {
	if q.sock != nil && q.down.Load() {
		if err := q.drop(); err != nil {
			return err
		}
	}
	if q.sock != nil {
		return nil
	}
	var onEvent func(Event)
	if q.opt.FailFast {
		onEvent = q.onEvent
	}
	q.down.Store(false) // no monitor runs now that could set it
	q.up.Store(false)
	sock := newSocket(q.opt.Context)
	if err := sock.open(zmq4.DEALER, q.configure, onEvent); err != nil {
		return err
	}
	q.sock = sock
	return nil
}

// onEvent ends the running request when the connection ends. A later request sees down. A request that is about to be
// sent ends too, whether or not it was sent.
func (q *Req) onEvent(e Event) {
	switch e.Kind {
	case Connected:
		q.down.Store(false)
		q.up.Store(true)
		select {
		case q.upNow <- struct{}{}:
		default:
		}
	case Disconnected:
		q.down.Store(true)
		q.up.Store(false)
		if cancel := q.flying.Load(); cancel != nil {
			(*cancel)(transport.ErrLost)
		}
	}
}

// await reads until the reply arrives. A reply that came just before the connection ended counts.
func (q *Req) await(ctx context.Context) ([]byte, error) {
	stop := context.AfterFunc(ctx, q.sock.poke)
	defer stop()
	for {
		frames, err := q.sock.next(ctx)
		if errors.Is(err, transport.ErrLost) {
			frames, err = q.sock.poll()
		}
		if err == nil && len(frames) == 2 && len(frames[0]) == 0 {
			return frames[1], nil
		}
		if frames == nil && ctx.Err() != nil {
			err := q.ended(ctx)
			if q.opt.FailFast && !q.up.Load() && errors.Is(err, transport.ErrTimeout) {
				err = fmt.Errorf("request to %s: %w", q.opt.Endpoint, transport.ErrUnconnected)
			}
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		q.malformed.Add(1)
	}
}

func (q *Req) ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("request to %s: %w", q.opt.Endpoint, transport.ErrTimeout)
	}
	if err := context.Cause(ctx); !errors.Is(err, transport.ErrLost) {
		return err
	}
	return fmt.Errorf("request to %s: %w", q.opt.Endpoint, transport.ErrLost)
}

func (q *Req) drop() error {
	if q.sock == nil {
		return nil
	}
	err := q.sock.close()
	q.sock = nil
	return err
}

func (q *Req) configure(s *setup) error {
	s.common(0, q.opt.IPv6 || isIPv6(q.opt.Endpoint))
	if q.opt.Identity != "" {
		s.set("identity", s.raw.SetIdentity(q.opt.Identity))
	}
	s.reconnect(reqReconnectMin, reqReconnectMax)
	s.keepalive(q.opt.Keepalive, plainKeepalive())
	s.heartbeat(q.opt.HeartbeatIvl, q.opt.HeartbeatTimeout)
	return s.connect(q.opt.Endpoint, q.opt.ConnectTimeout)
}
