package zmq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/pebbe/zmq4"

	"brine/wire/transport"
)

const (
	// safety ends a wait whose wake-up was lost. None was ever seen; safety turns a hang into a late message.
	safety = time.Second
	// safetyMost is the longest such wait, on a socket that stays silent: a wake-up can only be lost near other ones.
	safetyMost = time.Minute
	// batchSize is how many messages are read under one lock; senders get the lock in between.
	batchSize = 32
	// maxFrames is how many frames of a message are kept. No message of Salt has more than three.
	maxFrames = 4
)

// socket is a libzmq socket that one goroutine reads and any goroutine writes, under a mutex.
//
// Two rules prevent lost wake-ups. The reader asks for ZMQ_EVENTS before it waits, in the critical section in which it
// sets waiting. A sender that finds a waiting reader asks for ZMQ_EVENTS after sending, because sending may have
// consumed the signal of the descriptor.
type socket struct {
	safety time.Duration
	origin bool // recv puts the connection of a message, as text, before its frames

	mu       sync.Mutex
	ctx      *Context
	ownCtx   bool
	raw      *zmq4.Socket // nil before open and after close
	in       *receiver    // made and freed with raw
	origins  bool         // record the source of each message
	from     []origin     // sources of the messages of the last batch, if origins is set
	now      origin       // source of the message that sink is handling
	waker    *waker
	crowd    *crowd            // limits the connections of a server; nil: no limit
	tally    *tally            // counts the bytes that its connections sent and got; nil: no count
	refused  func(peer string) // called for peers that a server refused; may be nil
	watch    *monitor
	endpoint string
	waiting  bool // the reader found nothing and waits at the waker
	closed   bool
}

func newSocket(ctx *Context) *socket { return &socket{ctx: ctx, safety: safety} }

// open makes the socket, sets it up, and starts its monitor if something needs it. It leaves an open socket alone.
func (s *socket) open(kind zmq4.Type, configure func(*setup) error, onEvent func(Event)) error {
	if err := s.openLocked(kind, configure, onEvent); err != nil {
		return errors.Join(err, s.release())
	}
	return nil
}

func (s *socket) openLocked(kind zmq4.Type, configure func(*setup) error, onEvent func(Event)) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return transport.ErrClosed
	}
	if s.raw != nil {
		return nil
	}
	if s.ctx == nil {
		if s.ctx, err = NewContext(1); err != nil {
			return err
		}
		s.ownCtx = true
	}
	if s.in, err = newReceiver(); err != nil {
		return err
	}
	if s.raw, err = s.ctx.socket(kind); err != nil {
		return err
	}
	if onEvent != nil || s.crowd != nil || s.tally != nil || s.refused != nil {
		server := kind == zmq4.ROUTER || kind == zmq4.XPUB
		if s.watch, err = newMonitor(s, server, onEvent); err != nil {
			return err
		}
	}
	return s.start(configure)
}

func (s *socket) start(configure func(*setup) error) error {
	fd, err := s.raw.GetFd()
	if err != nil {
		return fmt.Errorf("read descriptor: %w", err)
	}
	if s.waker, err = newWaker(fd); err != nil {
		return err
	}
	if err := configure(&setup{raw: s.raw}); err != nil {
		return err
	}
	s.endpoint, err = s.raw.GetLastEndpoint()
	if err != nil {
		return fmt.Errorf("read endpoint: %w", err)
	}
	return nil
}

// close closes the socket for good. The reader must have stopped.
func (s *socket) close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.release()
}

// release undoes open. It takes the parts under the lock and closes them outside it: the monitor may be running a
// callback that asks for the endpoint.
func (s *socket) release() error {
	s.mu.Lock()
	raw, in, waker, watch, ctx, own := s.raw, s.in, s.waker, s.watch, s.ctx, s.ownCtx
	s.raw, s.in, s.waker, s.watch, s.endpoint = nil, nil, nil, nil, ""
	if own {
		s.ctx, s.ownCtx = nil, false
	}
	s.mu.Unlock()
	var errs []error
	if watch != nil {
		errs = append(errs, watch.stop(raw))
	}
	if waker != nil {
		errs = append(errs, waker.close())
	}
	if raw != nil {
		errs = append(errs, ctx.release(raw))
	}
	if in != nil {
		in.free()
	}
	if own {
		errs = append(errs, ctx.Close())
	}
	return errors.Join(errs...)
}

func (s *socket) lastEndpoint() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endpoint
}

// serve hands each message to sink until ctx ends, then closes.
func (s *socket) serve(ctx context.Context, sink func([][]byte)) error {
	err := s.readLoop(ctx, sink)
	if cerr := s.close(); cerr != nil {
		err = errors.Join(err, cerr)
	}
	return err
}

func (s *socket) readLoop(ctx context.Context, sink func([][]byte)) error {
	stop := context.AfterFunc(ctx, s.poke)
	defer stop()
	batch := make([][][]byte, 0, batchSize)
	for {
		var err error
		if batch, err = s.read(ctx, batch[:0]); err != nil {
			return err
		}
		for i, frames := range batch {
			if s.origins {
				s.now = s.from[i]
			}
			sink(frames)
			batch[i] = nil
		}
	}
}

// next waits for one message.
func (s *socket) next(ctx context.Context) ([][]byte, error) {
	batch, err := s.read(ctx, make([][][]byte, 0, 1))
	if err != nil {
		return nil, err
	}
	return batch[0], nil
}

// poll takes one message that has already arrived; nil if there is none.
func (s *socket) poll() ([][]byte, error) {
	batch, _, err := s.take(make([][][]byte, 0, 1))
	if err != nil || len(batch) == 0 {
		return nil, err
	}
	return batch[0], nil
}

// read fills batch. It waits for at least one message if necessary, and takes as many more as have arrived. When ctx
// has ended it returns the cause; poke makes it check ctx.
func (s *socket) read(ctx context.Context, batch [][][]byte) ([][][]byte, error) {
	wait := s.safety
	for ctx.Err() == nil {
		got, waker, err := s.take(batch)
		if err != nil || len(got) > 0 {
			return got, err
		}
		if waker == nil {
			continue
		}
		silent, err := waker.wait(wait)
		if err != nil {
			return nil, err
		}
		if !silent {
			wait = s.safety
		} else if wait < safetyMost {
			wait = min(2*wait, safetyMost)
		}
	}
	return nil, context.Cause(ctx)
}

// take reads messages that have arrived. If there are none, it returns the waker to wait at, or nil to try again at
// once.
func (s *socket) take(batch [][][]byte) ([][][]byte, *waker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raw == nil {
		return nil, nil, transport.ErrClosed
	}
	s.waiting, s.from = false, s.from[:0]
	for len(batch) < cap(batch) {
		frames, err := s.recv()
		if isAgain(err) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("receive: %w", err)
		}
		batch = append(batch, frames)
	}
	if len(batch) > 0 {
		return batch, nil, nil
	}
	ready, err := s.ready()
	if err != nil || ready {
		return nil, nil, err
	}
	s.waiting = true
	return nil, s.waker, nil
}

// recv reads one message. It discards frames beyond maxFrames, which is one more than any valid message has.
func (s *socket) recv() ([][]byte, error) {
	frames, bytes := make([][]byte, 0, maxFrames), int64(0)
	fd := -1
	if s.origin {
		frame, from, err := s.raw.RecvBytesWithMetadata(zmq4.DONTWAIT, propConnection)
		if err != nil {
			return nil, err
		}
		if n, err := strconv.Atoi(from[propConnection]); err == nil {
			fd = n
		}
		bytes = onWire(len(frame))
		frames = append(frames, []byte(from[propConnection]), frame)
		if more, err := s.raw.GetRcvmore(); err != nil || !more {
			s.tally.read(fd, bytes)
			return frames, err
		}
	}
	for {
		frame, more, from, err := s.in.read(s.raw, s.origins)
		if err != nil {
			return nil, err
		}
		bytes += onWire(len(frame))
		if len(frames) < maxFrames {
			frames = append(frames, frame)
		}
		if !more {
			if s.origins {
				fd = from.fd
			}
			from.account = s.tally.read(fd, bytes)
			if s.origins {
				s.from = append(s.from, from)
			}
			return frames, nil
		}
	}
}

// lend gives memory for the next large frame; nil takes it back.
func (s *socket) lend(room []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.in != nil {
		s.in.room = room
	}
}

// discard drops all messages that have arrived.
func (s *socket) discard() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raw == nil {
		return transport.ErrClosed
	}
	for {
		if _, err := s.recv(); isAgain(err) {
			return nil
		} else if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
	}
}

// send writes one message without blocking.
func (s *socket) send(frames ...[]byte) error {
	return s.sending(func(s *socket) error { return s.write(frames) })
}

// sending runs write while no other goroutine uses the socket.
func (s *socket) sending(write func(*socket) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raw == nil {
		return transport.ErrClosed
	}
	err := write(s)
	if !s.waiting {
		return err
	}
	if ready, rerr := s.ready(); ready || rerr != nil {
		s.waiting = false
		s.waker.poke()
	}
	return err
}

func (s *socket) write(frames [][]byte) error {
	for i, frame := range frames {
		flags := zmq4.DONTWAIT
		if i < len(frames)-1 {
			flags |= zmq4.SNDMORE
		}
		if _, err := s.raw.SendBytes(frame, flags); err != nil {
			return err
		}
	}
	return nil
}

// ready asks libzmq whether a message can be read now.
func (s *socket) ready() (bool, error) {
	events, err := s.raw.GetEvents()
	if err != nil {
		return false, fmt.Errorf("read events: %w", err)
	}
	return events&zmq4.POLLIN != 0, nil
}

// poke makes a waiting reader check its context.
func (s *socket) poke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waker != nil {
		s.waker.poke()
	}
}

func isAgain(err error) bool {
	return err != nil && zmq4.AsErrno(err) == zmq4.Errno(syscall.EAGAIN)
}
