package zmq

import (
	"context"
	"sync"
	"time"

	"github.com/pebbe/zmq4"
)

// pubLinger is how long unsent publications may hold up the end (Salt 3008: 1 ms, a publication is no promise).
const pubLinger = 100 * time.Millisecond

// PubOptions are the options of a Pub. Zero values mean Salt's defaults.
type PubOptions struct {
	Endpoint         string        // see BindEndpoint
	IPv6             bool          // option ipv6
	Backlog          int           // option zmq_backlog
	HWM              int           // option pub_hwm: messages kept per subscriber, more are dropped
	Keepalive        *Keepalive    // options tcp_keepalive...; nil: 1, 300, -1, -1
	HeartbeatIvl     time.Duration // option zmq_heartbeat_ivl, 0 is off
	HeartbeatTimeout time.Duration // option zmq_heartbeat_timeout
	Context          *Context      // nil: one of its own
	OnEvent          func(Event)   // connections made and lost; may be nil

	// MaxPeers bounds the connections, 0 does not. When there is one too many, the network address with the most loses
	// its newest. OnFull is told when that begins, with that address, and when there is room again; it must not block and
	// may be nil.
	MaxPeers int
	OnFull   func(full bool, peers int, who string)

	// OnSubscription is told of every subscription that begins or ends, with the number of peers that now
	// hold it. The empty topic is everything. It must not block; may be nil.
	OnSubscription func(topic string, peers int)
}

// Pub is the server end of the publish port. It is an XPUB socket: peers see a PUB, the owner sees who
// subscribed. Send may be called from any goroutine.
type Pub struct {
	opt  PubOptions
	sock *socket

	stop context.CancelFunc
	done chan struct{}

	mu        sync.Mutex
	topics    map[string]int
	sent      uint64
	malformed uint64
}

// PubStats counts since the Pub was made.
type PubStats struct {
	Sent      uint64 // messages given to libzmq, whoever subscribed
	Malformed uint64 // messages of peers that were no subscription, dropped
}

// NewPub makes a Pub; nothing is opened yet.
func NewPub(opt PubOptions) *Pub {
	p := &Pub{opt: opt, sock: newSocket(opt.Context), topics: map[string]int{}}
	p.sock.crowd = newCrowd(opt.MaxPeers, opt.OnFull)
	return p
}

// Open binds the port and starts to follow subscriptions. A Pub is opened once.
func (p *Pub) Open() error {
	if err := p.sock.open(zmq4.XPUB, p.configure, p.opt.OnEvent); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop, p.done = stop, make(chan struct{})
	go func() {
		defer close(p.done)
		_ = p.sock.serve(ctx, p.onFrames) // ends by Close only
	}()
	return nil
}

// Addr is the endpoint that was bound, with the port in place of 0; "" when not open.
func (p *Pub) Addr() string { return p.sock.lastEndpoint() }

// Send publishes one message of one or more frames; the first is the topic that subscriptions are matched
// with. It never blocks: a subscriber whose queue is full misses the message. The slices may be reused.
func (p *Pub) Send(frames ...[]byte) error {
	if err := p.sock.send(frames...); err != nil {
		return err
	}
	p.mu.Lock()
	p.sent++
	p.mu.Unlock()
	return nil
}

// Subscribers is how many peers hold the subscription topic, exactly as they sent it. Salt's minions hold ""
// or, with zmq_filtering, "broadcast".
func (p *Pub) Subscribers(topic string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.topics[topic]
}

// Stats reads the counters; any goroutine may do so.
func (p *Pub) Stats() PubStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return PubStats{Sent: p.sent, Malformed: p.malformed}
}

// Close closes the port and waits until nothing of the Pub runs any more.
func (p *Pub) Close() error {
	if p.stop == nil {
		return nil
	}
	p.stop()
	<-p.done
	return nil
}

// onFrames takes what subscribers send: 1 and a topic to begin, 0 and a topic to end.
func (p *Pub) onFrames(frames [][]byte) {
	if len(frames) != 1 || len(frames[0]) == 0 || frames[0][0] > 1 {
		p.mu.Lock()
		p.malformed++
		p.mu.Unlock()
		return
	}
	topic := string(frames[0][1:])
	n := p.count(topic, frames[0][0] == 1)
	if p.opt.OnSubscription != nil {
		p.opt.OnSubscription(topic, n)
	}
}

func (p *Pub) count(topic string, begin bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if begin {
		p.topics[topic]++
	} else {
		p.topics[topic]--
	}
	n := p.topics[topic]
	if n <= 0 {
		delete(p.topics, topic)
		return 0
	}
	return n
}

func (p *Pub) configure(s *setup) error {
	s.common(pubLinger, p.opt.IPv6 || isIPv6(p.opt.Endpoint))
	hwm := orDefault(p.opt.HWM, defaultHWM)
	s.set("sndhwm", s.raw.SetSndhwm(hwm))
	s.set("rcvhwm", s.raw.SetRcvhwm(hwm))
	_ = setBatches(s.raw, serverReadBatch, serverWriteBatch) // a library without them takes more memory, no more
	s.set("backlog", s.raw.SetBacklog(orDefault(p.opt.Backlog, defaultBacklog)))
	s.set("xpub_verboser", s.raw.SetXpubVerboser(1))
	s.keepalive(p.opt.Keepalive, plainKeepalive())
	s.heartbeat(p.opt.HeartbeatIvl, p.opt.HeartbeatTimeout)
	return s.bind(p.opt.Endpoint)
}
