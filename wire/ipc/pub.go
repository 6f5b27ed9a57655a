package ipc

import (
	"context"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultQueue        = 100_000  // events that wait for one subscriber
	defaultQueueBytes   = 64 << 20 // and the limit of their bytes
	defaultWriteTimeout = 15 * time.Second
)

// PubOptions configure a PubServer.
type PubOptions struct {
	Path    string      // or a tcp address
	Mode    fs.FileMode // of the socket file, 0: 0600
	Framing Framing     // the framing that the local tools expect

	Queue        int           // events that may wait for one subscriber, 0: 100,000
	QueueBytes   int           // bytes that may wait for one subscriber, 0: 64 MiB
	WriteTimeout time.Duration // a subscriber without progress for so long is disconnected, 0: 15 s

	OnConnect    func(*Subscriber) // called for a new subscriber; must not block
	OnDisconnect func(*Subscriber) // called for a subscriber that has gone; must not block
	Logger       *slog.Logger      // nil: silent
}

// PubServer writes every event to every subscriber. A subscriber that reads too slowly loses its oldest waiting events,
// and they are counted. A subscriber that does not read at all is disconnected.
type PubServer struct {
	opt     PubOptions
	ln      *listener
	mu      sync.Mutex
	subs    map[uint64]*Subscriber
	next    uint64
	dropped atomic.Uint64
}

// NewPubServer returns a PubServer that does not listen yet.
func NewPubServer(opt PubOptions) *PubServer {
	if opt.Mode == 0 {
		opt.Mode = defaultMode
	}
	if opt.Queue <= 0 {
		opt.Queue = defaultQueue
	}
	if opt.QueueBytes <= 0 {
		opt.QueueBytes = defaultQueueBytes
	}
	if opt.WriteTimeout <= 0 {
		opt.WriteTimeout = defaultWriteTimeout
	}
	return &PubServer{opt: opt, subs: make(map[uint64]*Subscriber)}
}

// Listen binds the socket.
func (s *PubServer) Listen() error {
	ln, err := listen(s.opt.Path, s.opt.Mode, s.opt.Logger)
	s.ln = ln
	return err
}

// Close closes the socket. It is needed only if Serve is never called.
func (s *PubServer) Close() error { return s.ln.close() }

// Addr is the address for subscribers. It differs from Path if the system chose the tcp port.
func (s *PubServer) Addr() string { return boundAddr(s.ln, s.opt.Path) }

// Serve accepts subscribers until ctx ends. It then disconnects them, removes the socket and returns the cause.
func (s *PubServer) Serve(ctx context.Context) error {
	if s.ln == nil {
		return ErrNotListening
	}
	return s.ln.serveEach(ctx, 0, func(conn net.Conn) handler {
		sub := s.add(conn)
		return func(ctx context.Context, _ net.Conn) { s.attend(ctx, sub) }
	})
}

// attend writes to one subscriber until it has gone.
func (s *PubServer) attend(ctx context.Context, sub *Subscriber) {
	if s.opt.OnConnect != nil {
		s.opt.OnConnect(sub)
	}
	err := sub.run()
	s.remove(sub)
	if ctx.Err() == nil && err != nil {
		s.ln.log.Warn("event subscriber dropped", "socket", s.opt.Path, "pid", sub.peer.PID, "dropped",
			sub.Stats().Dropped, "err", err)
	}
	if s.opt.OnDisconnect != nil {
		s.opt.OnDisconnect(sub)
	}
}

func (s *PubServer) add(conn net.Conn) *Subscriber {
	peer, _ := PeerOf(conn) // for the logs only
	sub := &Subscriber{
		conn: conn, peer: peer, since: time.Now(), wake: make(chan struct{}, 1), gone: make(chan struct{}),
		framing: s.opt.Framing, maxFrames: s.opt.Queue, maxBytes: s.opt.QueueBytes, timeout: s.opt.WriteTimeout,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	sub.id = s.next
	s.subs[sub.id] = sub
	return sub
}

func (s *PubServer) remove(sub *Subscriber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subs, sub.id)
	s.dropped.Add(sub.Stats().Dropped)
}

// Publish queues an event body for every subscriber and never blocks. Every subscriber that has connected before gets
// it, however busy the machine is. Events of one goroutine keep their order at every subscriber.
func (s *PubServer) Publish(body []byte) {
	s.ln.takeWaiting()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.subs) == 0 {
		return
	}
	frame := EncodeFrame(body, s.opt.Framing)
	for _, sub := range s.subs {
		sub.send(frame)
	}
}

// PublishYoung queues an event body for the subscribers that connected after since, and returns their number.
func (s *PubServer) PublishYoung(body []byte, since time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, sub := range s.subs {
		if sub.Stats().Since.After(since) {
			sub.send(EncodeFrame(body, s.opt.Framing))
			n++
		}
	}
	return n
}

// Subscribers returns the statistics of the connected subscribers, oldest first.
func (s *PubServer) Subscribers() []SubscriberStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]SubscriberStats, 0, len(s.subs))
	for _, id := range slices.Sorted(maps.Keys(s.subs)) {
		out = append(out, s.subs[id].Stats())
	}
	return out
}

// Dropped is the number of events that subscribers missed because they read too slowly. It includes subscribers that
// have gone.
func (s *PubServer) Dropped() uint64 {
	n := s.dropped.Load()
	for _, sub := range s.Subscribers() {
		n += sub.Dropped
	}
	return n
}
