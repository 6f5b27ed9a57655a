package zmq

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/pebbe/zmq4"

	"brine/wire/transport"
)

// pubLinger is how long unsent publications may delay the end (Salt 3008: 1 ms, since publications are not guaranteed).
const pubLinger = 100 * time.Millisecond

// PubOptions are the options of a Pub. Zero values mean Salt's defaults.
type PubOptions struct {
	Endpoint         string        // see BindEndpoint
	IPv6             bool          // option ipv6
	Backlog          int           // option zmq_backlog
	HWM              int           // option pub_hwm: messages kept per subscriber; further ones are dropped
	Keepalive        *Keepalive    // options tcp_keepalive...; nil: 1, 300, -1, -1
	HeartbeatIvl     time.Duration // option zmq_heartbeat_ivl, 0 is off
	HeartbeatTimeout time.Duration // option zmq_heartbeat_timeout
	Context          *Context      // nil: one of its own
	Logger           *slog.Logger  // nil: silent

	// MaxPeers limits the connections; 0 is no limit. When there is one too many, the network address with the most
	// loses its newest. OnFull is called when that begins, with that address, and when there are free places again. It
	// must not block; may be nil.
	MaxPeers int
	OnFull   func(full bool, peers int, who string)

	Guard *Guard // limits the memory that libzmq holds for connections; nil: no limit

	// OnRefused is called for a peer that was refused because it does not speak ZMTP 3. peer is "" if the peer had gone
	// before its address was read. It must not block; may be nil.
	OnRefused func(peer string)

	// MaxTopics is how many subscriptions a connection may begin or end if nobody vouches for them; 0: 16. A connection
	// that exceeds it, or sends what no minion sends, is cut. Unlike Salt: it accepts any number, and keeps them in
	// memory.
	MaxTopics int

	// Filter sends a publication for named minions under their topics (option zmq_filtering).
	Filter bool

	// Audience holds the callbacks for connections and subscriptions.
	Audience transport.Audience
}

// Pub is the server end of the publish port. It is an XPUB socket: peers see a PUB, the owner sees subscriptions. Any
// goroutine may call Send.
type Pub struct {
	opt  PubOptions
	sock *socket

	stop context.CancelFunc
	done chan struct{}

	telling sync.Mutex // keeps the reports of connections in the order in which they were noted; taken before mu

	mu    sync.Mutex
	peers map[int]*subscriber // by descriptor
	last  uint64              // number of the newest connection
	said  bool                // the log says that a peer was cut
	stats PubStats
}

// PubStats counts since the Pub was made.
type PubStats struct {
	Sent      uint64 // messages given to libzmq, even without subscribers
	Malformed uint64 // messages of peers that were not subscriptions, dropped
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
		_ = p.sock.serve(ctx, p.onFrames) // ends only by Close
	}()
	return nil
}

// Addr is the bound endpoint, with the real port in place of 0; "" if not open.
func (p *Pub) Addr() string { return p.sock.lastEndpoint() }

// Send publishes one message of one or more frames. Subscriptions are matched with the first frame, the topic. It never
// blocks: a subscriber whose queue is full misses the message. The slices may be reused.
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

// Publish sends one value. With Filter it uses the topics of the subscribers in to (see transport.Publisher).
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

// topicsOf are the topics of the subscribers in to.
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

// Stats reads the counters; any goroutine may call it.
func (p *Pub) Stats() PubStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Close closes the port and waits until all goroutines of the Pub have ended.
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
	_ = setBatches(s.raw, serverReadBatch, serverWriteBatch) // without them libzmq only takes more memory
	s.set("backlog", s.raw.SetBacklog(orDefault(p.opt.Backlog, defaultBacklog)))
	s.refuseOld()
	s.set("xpub_verboser", s.raw.SetXpubVerboser(1))
	s.keepalive(p.opt.Keepalive, plainKeepalive())
	s.heartbeat(p.opt.HeartbeatIvl, p.opt.HeartbeatTimeout)
	return s.bind(p.opt.Endpoint)
}
