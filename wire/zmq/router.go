package zmq

import (
	"context"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pebbe/zmq4"

	"brine/wire/transport"
)

// routerLinger is how long unsent replies may delay the end (Salt 3006.28 and later).
const routerLinger = time.Second

// peer is the connection of a request, over which the reply is sent.
type peer struct {
	router   *Router
	identity []byte // of the connection, 1 to 255 bytes
	account  *account
}

func (p *peer) Vouch()      { p.account.vouch() }
func (p *peer) Known() bool { return p.account != nil && p.account.known.Load() }

// RouterOptions are the options of a Router. Zero values mean Salt's defaults.
type RouterOptions struct {
	Endpoint         string        // see BindEndpoint
	IPv6             bool          // option ipv6
	Backlog          int           // option zmq_backlog
	Keepalive        *Keepalive    // nil: 1, 60, 3, 15
	HeartbeatIvl     time.Duration // option zmq_heartbeat_ivl, 0 is off
	HeartbeatTimeout time.Duration // option zmq_heartbeat_timeout
	Context          *Context      // nil: one of its own
	OnEvent          func(Event)   // connections made and lost; may be nil

	// MaxMessage is the largest message that is accepted, in bytes; 0: 256 MiB. A larger one ends its connection.
	MaxMessage int64

	// MaxPeers limits the connections; 0 is no limit. When there is one too many, the network address with the most
	// loses its newest. OnFull is called when that begins, with that address, and when there are free places again. It
	// must not block; may be nil.
	MaxPeers int
	OnFull   func(full bool, peers int, who string)

	Guard *Guard // limits the memory that libzmq holds for connections; nil: no limit

	// OnRefused is called for a peer that was refused because it does not speak ZMTP 3. peer is "" if the peer had gone
	// before its address was read. It must not block; may be nil.
	OnRefused func(peer string)
}

// RouterStats counts since the Router was made.
type RouterStats struct {
	Received  uint64 // requests handed to the sink
	Replied   uint64 // replies given to libzmq
	Malformed uint64 // messages that were not [identity, empty, payload], dropped
	Lost      uint64 // replies whose peer was gone or stuck
}

// Router is the server end of the request port: a ROUTER socket for many REQ and DEALER peers. Serve receives; any
// goroutine may answer a request. A new connection with the identity of an older one takes the identity over
// (ROUTER_HANDOVER).
type Router struct {
	opt  RouterOptions
	sock *socket

	received, replied, malformed, lost atomic.Uint64
}

// NewRouter makes a Router; nothing is opened yet.
func NewRouter(opt RouterOptions) *Router {
	r := &Router{opt: opt, sock: newSocket(opt.Context)}
	r.sock.crowd = newCrowd(opt.MaxPeers, opt.OnFull)
	r.sock.refused = opt.OnRefused
	r.sock.tally = opt.Guard.tally(false)
	return r
}

// Listen binds the port. Serve also does so; calling Listen first shows early that a port is taken.
func (r *Router) Listen() error {
	return r.sock.open(zmq4.ROUTER, r.configure, r.opt.OnEvent)
}

// Addr is the bound endpoint, with the real port in place of 0; "" before Listen and after Serve.
func (r *Router) Addr() string { return r.sock.lastEndpoint() }

// Serve hands each request to sink until ctx ends. It then closes and returns context.Cause(ctx). sink must not block:
// it posts to a mailbox. sink may answer.
func (r *Router) Serve(ctx context.Context, sink func(transport.Request)) error {
	if err := r.Listen(); err != nil {
		return err
	}
	r.sock.origins = true
	defer r.opt.Guard.watch(r.sock.tally)()
	return r.sock.serve(ctx, func(frames [][]byte) {
		if len(frames) != 3 || len(frames[1]) != 0 {
			r.malformed.Add(1)
			return
		}
		r.received.Add(1)
		sink(transport.Request{Payload: frames[2], From: r.sock.now.peer,
			Peer: &peer{r, frames[0], r.sock.now.account}})
	})
}

// Answer sends the reply. Errors: transport.ErrClosed, transport.ErrNoPeer, transport.ErrBusyPeer.
func (p *peer) Answer(payload []byte) error {
	bytes := onWire(0) + onWire(len(payload))
	p.account.gave(bytes)
	err := p.router.reply(p.identity, payload)
	if err != nil {
		p.account.gave(-bytes)
	}
	return err
}

func (r *Router) reply(peer, payload []byte) error {
	return r.counted(r.sock.send(peer, nil, payload))
}

// counted counts a reply as sent or lost, and translates its error.
func (r *Router) counted(err error) error {
	switch zmq4.AsErrno(err) {
	case zmq4.EHOSTUNREACH:
		err = transport.ErrNoPeer
	case zmq4.Errno(syscall.EAGAIN):
		err = transport.ErrBusyPeer
	}
	if err != nil {
		r.lost.Add(1)
		return err
	}
	r.replied.Add(1)
	return nil
}

// Stats reads the counters; any goroutine may call it.
func (r *Router) Stats() RouterStats {
	return RouterStats{
		Received: r.received.Load(), Replied: r.replied.Load(),
		Malformed: r.malformed.Load(), Lost: r.lost.Load(),
	}
}

// Close ends a Router that Listen has opened and that never served. After Serve it does nothing.
func (r *Router) Close() error { return r.sock.close() }

func (r *Router) configure(s *setup) error {
	s.common(routerLinger, r.opt.IPv6 || isIPv6(r.opt.Endpoint))
	_ = setBatches(s.raw, serverReadBatch, serverWriteBatch) // without them libzmq only takes more memory
	s.set("maxmsgsize", s.raw.SetMaxmsgsize(orDefault(r.opt.MaxMessage, maxMessage)))
	s.set("backlog", s.raw.SetBacklog(orDefault(r.opt.Backlog, defaultBacklog)))
	s.refuseOld()
	s.set("router_handover", s.raw.SetRouterHandover(true))
	s.set("router_mandatory", s.raw.SetRouterMandatory(1))
	s.keepalive(r.opt.Keepalive, routerKeepalive())
	s.heartbeat(r.opt.HeartbeatIvl, r.opt.HeartbeatTimeout)
	return s.bind(r.opt.Endpoint)
}
