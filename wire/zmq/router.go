package zmq

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"brine/wire/zmq/zmtp"
)

// Errors of sending.
var (
	// ErrClosed means the adapter is not open, or not any more.
	ErrClosed = errors.New("zmq: closed")
	// ErrNoPeer means the peer of a reply has gone.
	ErrNoPeer = errors.New("zmq: peer is not connected")
	// ErrBusyPeer means the peer does not read and its queue is full.
	ErrBusyPeer = errors.New("zmq: peer does not take its messages")
)

// routerLinger is how long unsent replies may hold up the end (Salt 3006.28 and later).
const routerLinger = time.Second

// Message is one request as a Router saw it. The receiver owns both slices.
type Message struct {
	Peer    []byte // identity of the connection, 1 to 255 bytes
	Payload []byte // one msgpack value
}

// RouterOptions are the options of a Router. Zero values mean Salt's defaults.
type RouterOptions struct {
	Endpoint         string        // see BindEndpoint
	Backlog          int           // option zmq_backlog
	Keepalive        *Keepalive    // nil: 1, 60, 3, 15
	HeartbeatIvl     time.Duration // option zmq_heartbeat_ivl, 0 is off
	HeartbeatTimeout time.Duration // option zmq_heartbeat_timeout
	OnEvent          func(Event)   // connections made and lost; may be nil
}

// RouterStats counts since the Router was made.
type RouterStats struct {
	Peers     int    // connected now
	Received  uint64 // requests handed to the sink
	Replied   uint64 // replies taken
	Malformed uint64 // messages that were not [identity, empty, payload], dropped
	Lost      uint64 // replies whose peer was gone or stuck
}

// Router is the server end of the request port, for many REQ and DEALER peers. Serve receives; Reply may be
// called from any goroutine. A new connection with a known identity takes the identity over, and the old one
// is closed.
type Router struct {
	opt  RouterOptions
	port port
	sink func(Message)

	mu    sync.RWMutex
	peers map[string]*zmtp.Conn
	next  uint32 // identity of the next peer that names none

	received, replied, malformed, lost atomic.Uint64
}

// NewRouter makes a Router; nothing is opened yet.
func NewRouter(opt RouterOptions) *Router {
	return &Router{opt: opt, peers: map[string]*zmtp.Conn{}, next: randomStart()}
}

// Listen binds the port. Serve does so by itself; calling Listen first shows a taken port early.
func (r *Router) Listen() error {
	return r.port.listen(r.opt.Endpoint, zmtp.Options{
		Backlog: r.opt.Backlog, SocketType: "ROUTER", PeerTypes: []string{"REQ", "DEALER", "ROUTER"}, MaxFrames: 3,
		HeartbeatIvl: r.opt.HeartbeatIvl, HeartbeatTimeout: r.opt.HeartbeatTimeout, Linger: routerLinger,
		KeepAlive: orDefault(r.opt.Keepalive, routerKeepalive()).server(),
		OnOpen:    r.onOpen, OnMessage: r.onMessage, OnClose: r.onClose, OnRefuse: refused(r.opt.OnEvent),
	})
}

// Addr is the endpoint that was bound, with the port in place of 0; "" before Listen and after Serve.
func (r *Router) Addr() string { return r.port.endpoint() }

// Serve hands each request to sink until ctx ends, then closes and returns context.Cause(ctx).
// sink must not block: it posts to a mailbox. It may call Reply.
func (r *Router) Serve(ctx context.Context, sink func(Message)) error {
	if err := r.Listen(); err != nil {
		return err
	}
	r.sink = sink
	return r.port.serve(ctx)
}

// Reply sends one payload to the peer of a request, from any goroutine, and never blocks. The slices may be
// reused afterwards. Errors: ErrClosed, ErrNoPeer, ErrBusyPeer.
func (r *Router) Reply(peer, payload []byte) error {
	err := r.reply(peer, payload)
	if err != nil {
		r.lost.Add(1)
		return err
	}
	r.replied.Add(1)
	return nil
}

func (r *Router) reply(peer, payload []byte) error {
	r.mu.RLock()
	c := r.peers[string(peer)]
	r.mu.RUnlock()
	if c == nil {
		if r.Addr() == "" {
			return ErrClosed
		}
		return ErrNoPeer
	}
	msg := zmtp.AppendMessage(make([]byte, 0, zmtp.Size(nil, payload)), nil, payload)
	switch err := c.Send(msg); {
	case errors.Is(err, zmtp.ErrGone):
		return ErrNoPeer
	case errors.Is(err, zmtp.ErrFull):
		return ErrBusyPeer
	default:
		return err
	}
}

// Stats reads the counters; any goroutine may do so.
func (r *Router) Stats() RouterStats {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return RouterStats{
		Peers: len(r.peers), Received: r.received.Load(), Replied: r.replied.Load(),
		Malformed: r.malformed.Load(), Lost: r.lost.Load(),
	}
}

// Close ends a Router that was opened by Listen and never served. After Serve it does nothing.
func (r *Router) Close() error { return r.port.close() }

func (r *Router) onOpen(c *zmtp.Conn) {
	r.mu.Lock()
	id := c.Identity
	if id == "" {
		id = r.newIdentity()
	}
	old := r.peers[id]
	r.peers[id] = c
	r.mu.Unlock()
	c.Data = id
	if old != nil {
		old.Close()
	}
	tell(r.opt.OnEvent, Connected, c)
}

// newIdentity makes five bytes of which the first is zero, as libzmq does.
func (r *Router) newIdentity() string {
	r.next++
	return string(binary.BigEndian.AppendUint32([]byte{0}, r.next))
}

func (r *Router) onMessage(c *zmtp.Conn, frames [][]byte) {
	if len(frames) != 2 || len(frames[0]) != 0 {
		r.malformed.Add(1)
		return
	}
	r.received.Add(1)
	r.sink(Message{Peer: []byte(c.Data.(string)), Payload: frames[1]})
}

func (r *Router) onClose(c *zmtp.Conn, _ error) {
	id := c.Data.(string)
	r.mu.Lock()
	if r.peers[id] == c {
		delete(r.peers, id)
	}
	r.mu.Unlock()
	tell(r.opt.OnEvent, Disconnected, c)
}
