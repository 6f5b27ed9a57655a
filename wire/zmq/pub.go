package zmq

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/pebbe/zmq4"

	"brine/wire/transport"
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
	Logger           *slog.Logger  // nil: silent

	// MaxPeers bounds the connections, 0 does not. When there is one too many, the network address with the most loses
	// its newest. OnFull is told when that begins, with that address, and when there is room again; it must not block
	// and may be nil.
	MaxPeers int
	OnFull   func(full bool, peers int, who string)

	Guard *Guard // bounds what libzmq holds of connections; nil: nothing does

	// OnRefused is told of a peer that was not let in, for it speaks no ZMTP 3; "" is one that had gone before its
	// address was asked for. It must not block; may be nil.
	OnRefused func(peer string)

	// MaxTopics is how many subscriptions a connection may begin or end that nobody vouches for, 0 for 16. One that
	// goes on, or sends what no minion sends, is cut. Unlike Salt: it takes as many as come, and keeps them in memory.
	MaxTopics int

	// Filter sends a publication for named minions under their topics (option zmq_filtering).
	Filter bool

	// Audience is told of connections and subscriptions.
	Audience transport.Audience
}

// Pub is the server end of the publish port. It is an XPUB socket: peers see a PUB, the owner sees who
// subscribed. Send may be called from any goroutine.
type Pub struct {
	opt  PubOptions
	sock *socket

	stop context.CancelFunc
	done chan struct{}

	telling sync.Mutex // connections are told of in the order in which they are noted; taken before mu

	mu    sync.Mutex
	peers map[int]*subscriber // by descriptor
	last  uint64              // number of a connection
	said  bool                // that a peer was cut
	stats PubStats
}

// PubStats counts since the Pub was made.
type PubStats struct {
	Sent      uint64 // messages given to libzmq, whoever subscribed
	Malformed uint64 // messages of peers that were no subscription, dropped
	Cut       uint64 // connections that were cut
}

// NewPub makes a Pub; nothing is opened yet.
func NewPub(opt PubOptions) *Pub {
	opt.MaxTopics = orDefault(opt.MaxTopics, defaultTopics)
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Pub{opt: opt, sock: newSocket(opt.Context), peers: map[int]*subscriber{}}
	p.sock.origin = true
	p.sock.crowd = newCrowd(opt.MaxPeers, opt.OnFull)
	p.sock.refused = opt.OnRefused
	p.sock.tally = opt.Guard.tally(true)
	return p
}

// Open binds the port and starts to follow subscriptions. A Pub is opened once.
func (p *Pub) Open() error {
	if err := p.sock.open(zmq4.XPUB, p.configure, p.onEvent); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop, p.done = stop, make(chan struct{})
	go func() {
		defer close(p.done)
		defer p.opt.Guard.watch(p.sock.tally)()
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
	p.sock.tally.published(frames)
	p.mu.Lock()
	p.stats.Sent++
	p.mu.Unlock()
	return nil
}

// Publish sends one value, with Filter under the topics of those whom it is for (see transport.Publisher).
func (p *Pub) Publish(to transport.To, payload []byte) error {
	if !p.opt.Filter {
		return p.Send(payload)
	}
	for _, topic := range topicsOf(to) {
		if err := p.Send([]byte(topic), payload); err != nil {
			return err
		}
	}
	return nil
}

// topicsOf are the topics of those whom a publication is for.
func topicsOf(to transport.To) []string {
	if len(to.IDs) == 0 {
		return []string{TopicBroadcast}
	}
	topics := make([]string, 0, len(to.IDs)+1)
	for _, id := range to.IDs {
		topics = append(topics, Topic(id))
	}
	if to.Syndics {
		topics = append(topics, TopicSyndic)
	}
	return topics
}

// Stats reads the counters; any goroutine may do so.
func (p *Pub) Stats() PubStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
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

func (p *Pub) configure(s *setup) error {
	s.common(pubLinger, p.opt.IPv6 || isIPv6(p.opt.Endpoint))
	s.set("maxmsgsize", s.raw.SetMaxmsgsize(maxSubscriberMessage))
	s.set("sndhwm", s.raw.SetSndhwm(orDefault(p.opt.HWM, defaultHWM)))
	s.set("rcvhwm", s.raw.SetRcvhwm(subscriberHWM))
	s.set("rcvbuf", s.raw.SetRcvbuf(subscriberBuffer))
	_ = setBatches(s.raw, serverReadBatch, serverWriteBatch) // a library without them takes more memory, no more
	s.set("backlog", s.raw.SetBacklog(orDefault(p.opt.Backlog, defaultBacklog)))
	s.refuseOld()
	s.set("xpub_verboser", s.raw.SetXpubVerboser(1))
	s.keepalive(p.opt.Keepalive, plainKeepalive())
	s.heartbeat(p.opt.HeartbeatIvl, p.opt.HeartbeatTimeout)
	return s.bind(p.opt.Endpoint)
}
