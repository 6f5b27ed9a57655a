package ipc

import (
	"errors"
	"net"
	"sync"
	"time"
)

// writeChunk is the size of one write: each chunk has the whole write timeout.
const writeChunk = 64 << 10

// Subscriber is one reader of a PubServer.
type Subscriber struct {
	id        uint64
	conn      net.Conn
	peer      Peer
	since     time.Time
	framing   Framing
	maxFrames int
	maxBytes  int
	timeout   time.Duration
	wake      chan struct{} // holds one token while there may be frames to write
	gone      chan struct{} // closed when the peer has closed its end

	mu      sync.Mutex
	queue   [][]byte
	bytes   int // in queue
	dropped uint64
	sent    uint64
}

// SubscriberStats are the statistics of one subscriber.
type SubscriberStats struct {
	ID      uint64 // counts from 1 in each server
	Peer    Peer
	Since   time.Time
	Queued  int    // events that wait
	Bytes   int    // their bytes
	Dropped uint64 // events that it missed
	Sent    uint64 // events that the system has accepted
}

// Stats returns the subscriber's statistics.
func (s *Subscriber) Stats() SubscriberStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return SubscriberStats{
		ID: s.id, Peer: s.peer, Since: s.since, Queued: len(s.queue), Bytes: s.bytes, Dropped: s.dropped, Sent: s.sent,
	}
}

// Send queues an event body for this subscriber alone. It never blocks. It reports whether the queue had space without
// dropping older events.
func (s *Subscriber) Send(body []byte) bool { return s.send(EncodeFrame(body, s.framing)) }

// Close disconnects the subscriber.
func (s *Subscriber) Close() { _ = s.conn.Close() }

// send queues a frame and drops the oldest frames until it fits. An empty queue accepts a frame of any size.
func (s *Subscriber) send(frame []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.dropped
	for len(s.queue) > 0 && (len(s.queue) >= s.maxFrames || s.bytes+len(frame) > s.maxBytes) {
		s.bytes -= len(s.queue[0])
		s.queue[0] = nil
		s.queue = s.queue[1:]
		s.dropped++
	}
	s.queue = append(s.queue, frame)
	s.bytes += len(frame)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return s.dropped == before
}

// take moves up to a chunk of small frames into buf, or returns one big frame as it is.
func (s *Subscriber) take(buf []byte) (out []byte, frames int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for frames < len(s.queue) && len(buf)+len(s.queue[frames]) <= writeChunk {
		buf = append(buf, s.queue[frames]...)
		frames++
	}
	if out = buf; frames == 0 && len(s.queue) > 0 {
		out, frames = s.queue[0], 1
	}
	clear(s.queue[:frames])
	if s.queue = s.queue[frames:]; len(s.queue) == 0 {
		s.queue = nil // otherwise the array would only grow
	}
	s.bytes -= len(out)
	return out, frames
}

// run writes the queue to the peer until the peer hangs up (nil), the peer does not read for too long, or we close the
// connection.
func (s *Subscriber) run() error {
	go s.watch()
	defer func() { <-s.gone }()
	defer s.conn.Close()
	buf := make([]byte, 0, writeChunk)
	for {
		select {
		case <-s.gone:
			return nil
		case <-s.wake:
		}
		for {
			out, n := s.take(buf[:0])
			if n == 0 {
				break
			}
			if err := s.write(out); err != nil {
				return hangup(err)
			}
			s.mu.Lock()
			s.sent += uint64(n)
			s.mu.Unlock()
		}
	}
}

// hangup turns the errors of a peer that has gone into nil: a peer may go at any time.
func hangup(err error) error {
	if errors.Is(err, net.ErrClosed) || isBrokenPipe(err) {
		return nil
	}
	return err
}

func (s *Subscriber) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), writeChunk)
		if err := s.conn.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
			return err
		}
		if _, err := s.conn.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// watch notices when the peer closes its end. It discards everything that the peer sends.
func (s *Subscriber) watch() {
	defer close(s.gone)
	buf := make([]byte, 512)
	for {
		if _, err := s.conn.Read(buf); err != nil {
			return
		}
	}
}
