package zmq

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"brine/wire/zmq/zmtp"
)

// handshakeTime is how long a stranger may hold a connection without introducing itself (libzmq's default).
const handshakeTime = 30 * time.Second

// port is what Router and Pub have in common: a zmtp.Server that is made once.
type port struct {
	mu     sync.Mutex
	server *zmtp.Server
	closed bool
}

// listen binds the port and fills in the options that are the same for both. An open port stays as it is.
func (p *port) listen(endpoint string, opt zmtp.Options) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	if p.server != nil {
		return nil
	}
	addr, ok := strings.CutPrefix(endpoint, "tcp://")
	if !ok {
		return fmt.Errorf("bind %s: not a tcp endpoint", endpoint)
	}
	opt.Addr, opt.MaxFrame, opt.Handshake = addr, maxMessage, handshakeTime
	opt.Backlog, opt.HWM = orDefault(opt.Backlog, defaultBacklog), orDefault(opt.HWM, defaultHWM)
	server, err := zmtp.Listen(opt)
	if err != nil {
		return fmt.Errorf("bind %s: %w", endpoint, err)
	}
	p.server = server
	return nil
}

func (p *port) endpoint() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server == nil || p.closed {
		return ""
	}
	return "tcp://" + p.server.Addr().String()
}

// flush makes the server write what is queued.
func (p *port) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		p.server.Flush()
	}
}

// serve works until ctx ends and closes.
func (p *port) serve(ctx context.Context) error {
	p.mu.Lock()
	server := p.server
	p.mu.Unlock()
	if server == nil {
		return ErrClosed
	}
	err := server.Serve(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server, p.closed = nil, true
	return err
}

// close closes a port that was never served.
func (p *port) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.server == nil {
		return nil
	}
	err := p.server.Close()
	p.server = nil
	return err
}

// randomStart makes identities differ from those before a restart.
func randomStart() uint32 { return rand.Uint32() }

func tell(onEvent func(Event), kind EventKind, c *zmtp.Conn) {
	if onEvent != nil {
		onEvent(Event{Kind: kind, Peer: c.Peer.String()})
	}
}

// refused tells of strangers. A connection that was opened and closed without a word is none.
func refused(onEvent func(Event)) func(*zmtp.Conn, error) {
	return func(c *zmtp.Conn, err error) {
		if errors.Is(err, zmtp.ErrProtocol) {
			tell(onEvent, Refused, c)
		}
	}
}
