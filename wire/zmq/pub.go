package zmq

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"brine/wire/zmq/zmtp"
)

// pubLinger is how long unsent publications may hold up the end (Salt 3008: 1 ms, a publication is no promise).
const pubLinger = 100 * time.Millisecond

// maxTopics is how many subscriptions one peer may hold. Salt's minions hold two.
const maxTopics = 1024

// PubOptions are the options of a Pub. Zero values mean Salt's defaults.
type PubOptions struct {
	Endpoint         string        // see BindEndpoint
	Backlog          int           // option zmq_backlog
	HWM              int           // option pub_hwm: messages kept per subscriber, more are dropped
	Keepalive        *Keepalive    // options tcp_keepalive...; nil: 1, 300, -1, -1
	HeartbeatIvl     time.Duration // option zmq_heartbeat_ivl, 0 is off
	HeartbeatTimeout time.Duration // option zmq_heartbeat_timeout
	OnEvent          func(Event)   // connections made and lost; may be nil

	// OnSubscription is told of every subscription that begins or ends, with the number of peers that now
	// hold it. The empty topic is everything. It must not block; may be nil.
	OnSubscription func(topic string, peers int)
}

// PubStats counts since the Pub was made.
type PubStats struct {
	Peers     int    // connected now
	Sent      uint64 // messages published, whoever subscribed
	Delivered uint64 // copies of these taken for a subscriber
	Dropped   uint64 // copies that a subscriber missed because it did not read
	Malformed uint64 // messages of peers that were no subscription, dropped
}

// Pub is the server end of the publish port. Unlike a PUB of libzmq it shows who subscribed and how many copies
// were dropped. Send may be called from any goroutine.
type Pub struct {
	opt  PubOptions
	port port

	stop context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	peers  map[*zmtp.Conn][][]byte // topics of each
	topics map[string]int          // peers of each
	stats  PubStats
}

// NewPub makes a Pub; nothing is opened yet.
func NewPub(opt PubOptions) *Pub {
	return &Pub{opt: opt, peers: map[*zmtp.Conn][][]byte{}, topics: map[string]int{}}
}

// Open binds the port and starts to serve subscribers. A Pub is opened once.
func (p *Pub) Open() error {
	err := p.port.listen(p.opt.Endpoint, zmtp.Options{
		Backlog: p.opt.Backlog, SocketType: "PUB", PeerTypes: []string{"SUB", "XSUB"}, MaxFrames: 2, HWM: p.opt.HWM,
		HeartbeatIvl: p.opt.HeartbeatIvl, HeartbeatTimeout: p.opt.HeartbeatTimeout, Linger: pubLinger,
		KeepAlive: orDefault(p.opt.Keepalive, plainKeepalive()).server(),
		OnOpen:    p.onOpen, OnMessage: p.onMessage, OnClose: p.onClose, OnRefuse: refused(p.opt.OnEvent),
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop, p.done = stop, make(chan struct{})
	go func() {
		defer close(p.done)
		_ = p.port.serve(ctx) // ends by Close only
	}()
	return nil
}

// Addr is the endpoint that was bound, with the port in place of 0; "" when not open.
func (p *Pub) Addr() string { return p.port.endpoint() }

// Send publishes one message of one or more frames; the first is the topic that subscriptions are matched
// with. It never blocks: a subscriber whose queue is full misses the message. The slices may be reused.
func (p *Pub) Send(frames ...[]byte) error {
	if len(frames) == 0 {
		return nil
	}
	if p.Addr() == "" {
		return ErrClosed
	}
	msg := zmtp.AppendMessage(make([]byte, 0, zmtp.Size(frames...)), frames...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Sent++
	for c, topics := range p.peers {
		if !slices.ContainsFunc(topics, func(topic []byte) bool { return bytes.HasPrefix(frames[0], topic) }) {
			continue
		}
		switch err := c.Queue(msg); {
		case err == nil:
			p.stats.Delivered++
		case errors.Is(err, zmtp.ErrFull):
			p.stats.Dropped++
		}
	}
	p.port.flush()
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
	stats := p.stats
	stats.Peers = len(p.peers)
	return stats
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

func (p *Pub) onOpen(c *zmtp.Conn) {
	p.mu.Lock()
	p.peers[c] = nil
	p.mu.Unlock()
	tell(p.opt.OnEvent, Connected, c)
}

// onMessage takes what subscribers send: 1 and a topic to begin, 0 and a topic to end.
func (p *Pub) onMessage(c *zmtp.Conn, frames [][]byte) {
	if len(frames) != 1 || len(frames[0]) == 0 || frames[0][0] > 1 {
		p.mu.Lock()
		p.stats.Malformed++
		p.mu.Unlock()
		return
	}
	p.change(c, frames[0][1:], frames[0][0] == 1)
}

// change begins or ends one subscription. One that is held already, or not at all, changes nothing.
func (p *Pub) change(c *zmtp.Conn, topic []byte, begin bool) {
	p.mu.Lock()
	topics := p.peers[c]
	at := slices.IndexFunc(topics, func(held []byte) bool { return bytes.Equal(held, topic) })
	switch {
	case begin == (at >= 0):
		p.mu.Unlock()
		return
	case !begin:
		p.peers[c] = slices.Delete(topics, at, at+1)
	case len(topics) >= maxTopics:
		p.stats.Malformed++
		p.mu.Unlock()
		return
	default:
		p.peers[c] = append(topics, topic)
	}
	n := p.count(string(topic), begin)
	p.mu.Unlock()
	p.tell(string(topic), n)
}

func (p *Pub) count(topic string, begin bool) int {
	if begin {
		p.topics[topic]++
		return p.topics[topic]
	}
	p.topics[topic]--
	if p.topics[topic] > 0 {
		return p.topics[topic]
	}
	delete(p.topics, topic)
	return 0
}

func (p *Pub) tell(topic string, peers int) {
	if p.opt.OnSubscription != nil {
		p.opt.OnSubscription(topic, peers)
	}
}

func (p *Pub) onClose(c *zmtp.Conn, _ error) {
	p.mu.Lock()
	topics := p.peers[c]
	delete(p.peers, c)
	left := make([]int, len(topics))
	for i, topic := range topics {
		left[i] = p.count(string(topic), false)
	}
	p.mu.Unlock()
	for i, topic := range topics {
		p.tell(string(topic), left[i])
	}
	tell(p.opt.OnEvent, Disconnected, c)
}
