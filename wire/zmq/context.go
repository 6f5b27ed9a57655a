package zmq

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pebbe/zmq4"

	"brine/wire/transport"
)

// ErrContextBusy means that a Context was closed while adapters still use it.
var ErrContextBusy = errors.New("zmq: context still has open sockets")

// maxSockets is the number of sockets that one Context can hold. libzmq's own default is 1023.
const maxSockets = 16384

// Context is a libzmq context: one or more I/O threads and a reaper thread, shared by all adapters that name it in
// their options. Its maker closes it after the adapters. An adapter without a Context makes its own and closes it with
// the socket. A process with many Subs and Reqs should share one.
type Context struct {
	raw      *zmq4.Context
	monitors atomic.Uint64 // the number of monitors so far: each needs a name of its own

	mu     sync.Mutex
	open   int
	closed bool
}

// LibraryVersion is the version of the libzmq in use, such as 4.3.5.
func LibraryVersion() string {
	major, minor, patch := zmq4.Version()
	return fmt.Sprintf("%d.%d.%d", major, minor, patch)
}

// NewContext makes a context with ioThreads threads for network work; one thread serves about a gigabyte a second.
func NewContext(ioThreads int) (*Context, error) {
	raw, err := zmq4.NewContext()
	if err != nil {
		return nil, fmt.Errorf("make zmq context: %w", err)
	}
	err = errors.Join(raw.SetMaxSockets(maxSockets), raw.SetIoThreads(max(ioThreads, 1)))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set up zmq context: %w", err), raw.Term())
	}
	_ = copyReceived(raw) // without the option libzmq only takes more memory
	return &Context{raw: raw}, nil
}

// Close ends the context's threads. If closed sockets still have unsent messages, it waits for their linger time. It
// returns ErrContextBusy while an adapter is open.
func (c *Context) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	if c.open > 0 {
		return fmt.Errorf("%w: %d", ErrContextBusy, c.open)
	}
	c.closed = true
	if err := c.raw.Term(); err != nil {
		return fmt.Errorf("end zmq context: %w", err)
	}
	return nil
}

// socket makes a raw socket and counts it.
func (c *Context) socket(kind zmq4.Type) (*zmq4.Socket, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, transport.ErrClosed
	}
	raw, err := c.raw.NewSocket(kind)
	if err != nil {
		return nil, fmt.Errorf("make %v socket: %w", kind, err)
	}
	c.open++
	return raw, nil
}

// release closes a raw socket that came from socket.
func (c *Context) release(raw *zmq4.Socket) error {
	err := raw.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	return err
}
