package zmtp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Errors of Send.
var (
	// ErrGone means that the connection has ended.
	ErrGone = errors.New("zmtp: connection has ended")
	// ErrFull means that the peer does not read and its queue is full.
	ErrFull = errors.New("zmtp: peer does not read")
)

// Stages of a connection.
const (
	greeted   = iota // our greeting is sent, theirs has not come
	shaking          // READY is sent, theirs has not come
	connected        // messages may come
)

// maxQueued is how many unsent bytes a peer may leave with us, whatever the high-water mark says.
const maxQueued = 256 << 20

// Conn is one connection. Its fields are fixed before Options.OnOpen sees it.
type Conn struct {
	Peer     netip.AddrPort
	Type     string // socket type that the peer names: REQ, SUB, ...
	Identity string // that the peer names; "" when it leaves that to us
	Data     any    // for the owner of the Server; only its callbacks touch it

	srv *Server
	fd  int

	mu      sync.Mutex
	closed  bool
	queue   [][]byte // unsent; the first may be sent in part
	queued  int      // bytes in queue
	blocked bool     // the peer took no more, and the poller waits until it does
	due     bool     // on the list of the Server, to be flushed

	// The rest belongs to the goroutine of Serve.
	stage  int
	hello  []byte // what has come of the greeting
	reader frameReader
	frames [][]byte // what has come of a message
	size   int      // bytes of these

	since    time.Duration // when it was accepted; all times count from the start of the Server
	heard    time.Duration // when something came last
	pinged   time.Duration // when PING was last sent
	waiting  bool          // nothing came since that PING
	answers  bool          // the peer knows PING
	patience time.Duration // how long the peer allows us to be silent, and itself; 0: for ever
}

// Send writes bytes made by AppendMessage, now or as soon as the peer takes them. It never blocks, and keeps
// msg. It may be called from any goroutine. Errors: ErrGone, ErrFull.
func (c *Conn) Send(msg []byte) error { return c.send(msg, c.srv.opt.HWM) }

// Queue leaves msg to the goroutine of Serve, which writes what has come together by then in one go: the way
// to send one message to many. Server.Flush must follow. Errors as for Send.
func (c *Conn) Queue(msg []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.enqueue(msg, c.srv.opt.HWM); err != nil {
		return err
	}
	if !c.due && !c.blocked {
		c.due = true
		c.srv.setDue(c)
	}
	return nil
}

func (c *Conn) send(msg []byte, limit int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) > 0 || c.closed {
		return c.enqueue(msg, limit)
	}
	n, err := write(c.fd, msg)
	if err != nil {
		return c.hangUp()
	}
	if n == len(msg) {
		return nil
	}
	c.queue, c.queued = append(c.queue, msg[n:]), len(msg)-n
	if err := c.block(true); err != nil {
		return c.hangUp()
	}
	return nil
}

func (c *Conn) enqueue(msg []byte, limit int) error {
	if c.closed {
		return ErrGone
	}
	if len(c.queue) >= limit || c.queued > 0 && c.queued+len(msg) > maxQueued {
		return ErrFull
	}
	c.queue = append(c.queue, msg)
	c.queued += len(msg)
	return nil
}

// block begins or ends the wait for the peer to take more.
func (c *Conn) block(on bool) error {
	if c.blocked == on {
		return nil
	}
	c.blocked = on
	return c.srv.poll.change(c.fd, true, on)
}

// hangUp makes the serving goroutine see the end of the connection.
func (c *Conn) hangUp() error {
	_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // fails when the peer was first
	return ErrGone
}

// flush writes what is queued, as far as the peer takes it. scratch is where small messages are put together.
func (c *Conn) flush(scratch []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due = false
	if c.closed {
		return nil
	}
	for len(c.queue) > 0 {
		chunk := c.queue[0]
		if len(chunk) < len(scratch)/2 {
			chunk = gather(scratch[:0], c.queue)
		}
		n, err := write(c.fd, chunk)
		if err != nil {
			return err
		}
		c.sent(n)
		if n < len(chunk) {
			return c.block(true)
		}
	}
	c.queue = nil
	return c.block(false)
}

// gather puts as many whole messages one after the other as there is room for.
func gather(room []byte, queue [][]byte) []byte {
	for _, msg := range queue {
		if len(room)+len(msg) > cap(room) {
			break
		}
		room = append(room, msg...)
	}
	return room
}

// sent takes n bytes off the queue.
func (c *Conn) sent(n int) {
	c.queued -= n
	for n > 0 {
		first := c.queue[0]
		if n < len(first) {
			c.queue[0] = first[n:]
			return
		}
		n -= len(first)
		c.queue[0] = nil
		c.queue = c.queue[1:]
	}
}

// shut closes the descriptor.
func (c *Conn) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.queue, c.queued = true, nil, 0
	c.srv.poll.forget(c.fd)
	_ = unix.Close(c.fd)
}

// Close ends the connection from any goroutine; OnClose follows.
func (c *Conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		_ = c.hangUp()
	}
}

// feed takes the next bytes of the stream.
func (c *Conn) feed(b []byte) error {
	if c.stage == greeted {
		n := min(greetingSize-len(c.hello), len(b))
		c.hello = append(c.hello, b[:n]...)
		if err := checkGreeting(c.hello); err != nil {
			return err
		}
		if len(c.hello) < greetingSize {
			return nil
		}
		c.hello, c.stage, b = nil, shaking, b[n:]
		if err := c.send(ready(c.srv.opt.SocketType), c.srv.opt.HWM); err != nil {
			return err
		}
	}
	return c.reader.feed(b, c.onFrame)
}

func (c *Conn) onFrame(flags byte, body []byte) error {
	if flags&flagCommand != 0 {
		return c.onCommand(body)
	}
	if c.stage != connected {
		return fmt.Errorf("%w: message before READY", ErrProtocol)
	}
	c.size += len(body)
	if c.size > c.srv.opt.MaxFrame {
		return fmt.Errorf("%w: message of over %d bytes", ErrProtocol, c.srv.opt.MaxFrame)
	}
	if len(c.frames) < c.srv.opt.MaxFrames {
		c.frames = append(c.frames, body)
	}
	if flags&flagMore == 0 {
		frames := c.frames
		c.frames, c.size = nil, 0
		c.srv.opt.OnMessage(c, frames)
	}
	return nil
}

func (c *Conn) onCommand(body []byte) error {
	name, args, err := cutCommand(body)
	if err != nil {
		return err
	}
	if c.stage != connected {
		if name != cmdReady {
			return fmt.Errorf("%w: %q in place of READY", ErrProtocol, name)
		}
		return c.onReady(args)
	}
	switch name {
	case cmdPing:
		return c.onPing(args)
	case cmdPong:
		c.answers = true
	case cmdSubscribe:
		c.srv.opt.OnMessage(c, [][]byte{append([]byte{1}, args...)})
	case cmdCancel:
		c.srv.opt.OnMessage(c, [][]byte{append([]byte{0}, args...)})
	case cmdError:
		return fmt.Errorf("%w: peer says %q", ErrProtocol, args)
	}
	return nil // a command that we do not know is for us to ignore
}

func (c *Conn) onReady(args []byte) error {
	socketType, identity, err := readReady(args)
	if err != nil {
		return err
	}
	if !slices.Contains(c.srv.opt.PeerTypes, socketType) {
		return fmt.Errorf("%w: peer is a %q", ErrProtocol, socketType)
	}
	c.Type, c.Identity, c.stage = socketType, identity, connected
	c.srv.opt.OnOpen(c)
	return nil
}

// onPing answers PING: how long the peer waits for us in tenths of a second (2 bytes), and a context to return.
func (c *Conn) onPing(args []byte) error {
	if len(args) < 2 {
		return fmt.Errorf("%w: PING cut short", ErrProtocol)
	}
	c.answers = true
	c.patience = time.Duration(binary.BigEndian.Uint16(args)) * 100 * time.Millisecond
	err := c.send(command(cmdPong, args[2:min(len(args), 18)]), c.srv.opt.HWM)
	if errors.Is(err, ErrFull) {
		return nil // it has enough to read
	}
	return err
}

// write writes without blocking; a peer that takes nothing now is no error.
func write(fd int, b []byte) (int, error) {
	for {
		n, err := unix.Write(fd, b)
		switch err {
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, nil
		default:
			return max(n, 0), err
		}
	}
}
