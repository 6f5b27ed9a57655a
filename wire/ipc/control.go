package ipc

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"time"

	"brine/wire/payload"
)

const (
	maxRequest     = 16 << 20         // bytes of a control request
	controlTimeout = 15 * time.Second // for the rest of a request that has begun, and for a reply without progress
	controlGrace   = time.Second      // for the current reply when the server stops
)

// ErrRequest means that a control request or its reply is malformed.
var ErrRequest = errors.New("ipc: malformed control message")

// ControlHandler answers one request of a local operator. The operator gets an error as text. ctx ends when the
// operator hangs up or the server stops.
type ControlHandler func(ctx context.Context, peer Peer, request *payload.Map) (*payload.Map, error)

// ControlOptions configure a ControlServer.
type ControlOptions struct {
	Path   string          // of a unix socket
	Mode   fs.FileMode     // of the socket file, 0: 0600
	Allow  func(Peer) bool // whether a peer may send requests; nil: root and the user of this process may
	Logger *slog.Logger    // nil: silent
}

// ControlServer answers requests on brine's control socket. Both directions carry
//
//	length (4 bytes, big endian) | msgpack map, bin rule
//
// A reply is {reply: <map>} or {error: <text>}. A connection may send many requests, one after another.
type ControlServer struct {
	opt ControlOptions
	ln  *listener
}

// NewControlServer returns a ControlServer that does not listen yet.
func NewControlServer(opt ControlOptions) *ControlServer {
	if opt.Mode == 0 {
		opt.Mode = defaultMode
	}
	if opt.Allow == nil {
		opt.Allow = func(p Peer) bool { return p.UID == 0 || p.UID == os.Geteuid() }
	}
	return &ControlServer{opt: opt}
}

// Listen binds the socket.
func (s *ControlServer) Listen() error {
	ln, err := listen(s.opt.Path, s.opt.Mode, s.opt.Logger)
	s.ln = ln
	return err
}

// Close closes the socket. It is needed only if Serve is never called.
func (s *ControlServer) Close() error { return s.ln.close() }

// Serve answers until ctx ends. It then removes the socket, waits for the handlers, and returns the cause. A request
// that came before still gets its reply, because it may be the request that stops the server. Requests of different
// connections are handled concurrently.
func (s *ControlServer) Serve(ctx context.Context, handler ControlHandler) error {
	if s.ln == nil {
		return ErrNotListening
	}
	return s.ln.serveGently(ctx, controlGrace, func(ctx context.Context, conn net.Conn) {
		peer, err := PeerOf(conn)
		if err == nil && !s.opt.Allow(peer) {
			err = fmt.Errorf("user %d may not use the control socket", peer.UID)
		}
		if err != nil {
			s.ln.log.Warn("control connection refused", "uid", peer.UID, "pid", peer.PID, "err", err)
			_ = writeMessage(conn, payload.M("error", err.Error()))
			return
		}
		c := controlConn{conn: conn, r: bufio.NewReader(conn), peer: peer, handler: handler, log: s.ln.log}
		if err := c.run(ctx); err != nil && ctx.Err() == nil {
			s.ln.log.Warn("control connection dropped", "uid", peer.UID, "pid", peer.PID, "err", err)
		}
	})
}

// controlConn is one connection. Between requests waitByte uses its reader, otherwise run.
type controlConn struct {
	conn    net.Conn
	r       *bufio.Reader
	peer    Peer
	handler ControlHandler
	log     *slog.Logger
}

func (c *controlConn) run(ctx context.Context) error {
	next := make(chan error, 1)
	c.waitByte(next, func() {})
	for {
		if err := <-next; err != nil {
			if errors.Is(err, io.EOF) || isBrokenPipe(err) {
				return nil
			}
			return err
		}
		req, err := c.read()
		if err != nil {
			return errors.Join(err, writeMessage(c.conn, payload.M("error", err.Error())))
		}
		reqCtx, cancel := context.WithCancel(ctx)
		c.waitByte(next, cancel)
		err = writeMessage(c.conn, c.answer(reqCtx, req))
		cancel()
		if err != nil || ctx.Err() != nil {
			_ = c.conn.Close()
			_ = <-next
			if isBrokenPipe(err) {
				err = nil
			}
			return err
		}
	}
}

// waitByte sends to next when the following request begins or the peer has gone. In the second case it also calls
// onGone.
func (c *controlConn) waitByte(next chan<- error, onGone func()) {
	go func() {
		_, err := c.r.Peek(1)
		if err != nil {
			onGone()
		}
		next <- err
	}()
}

func (c *controlConn) read() (*payload.Map, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(controlTimeout)); err != nil {
		return nil, err
	}
	req, err := readMessage(c.r, maxRequest)
	if err != nil {
		return nil, err
	}
	return req, c.conn.SetReadDeadline(time.Time{})
}

// answer runs the handler. A panic of the handler fails only its request.
func (c *controlConn) answer(ctx context.Context, req *payload.Map) (reply *payload.Map) {
	defer func() {
		if r := recover(); r != nil {
			c.log.Error("control handler died", "err", r, "stack", string(debug.Stack()))
			reply = payload.M("error", fmt.Sprintf("internal error: %v", r))
		}
	}()
	got, err := c.handler(ctx, c.peer, req)
	if err != nil {
		return payload.M("error", err.Error())
	}
	return payload.M("reply", got)
}

// writeMessage packs m and writes it. If m cannot be packed, the peer gets the error instead.
func writeMessage(conn net.Conn, m *payload.Map) error {
	b, err := payload.AppendBin(make([]byte, lengthSize, 512), m)
	if err == nil && len(b) > MaxFrame {
		err = fmt.Errorf("%w: %d bytes are too many", ErrRequest, len(b))
	}
	if err != nil {
		if b, err = payload.AppendBin(make([]byte, lengthSize, 512), payload.M("error", err.Error())); err != nil {
			return err
		}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-lengthSize))
	for len(b) > 0 {
		n := min(len(b), writeChunk)
		if err := conn.SetWriteDeadline(time.Now().Add(controlTimeout)); err != nil {
			return err
		}
		if _, err := conn.Write(b[:n]); err != nil {
			return fmt.Errorf("write control message: %w", err)
		}
		b = b[n:]
	}
	return nil
}

func readMessage(r io.Reader, limit uint32) (*payload.Map, error) {
	var head [lengthSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("read control message: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > limit {
		return nil, fmt.Errorf("%w: of %d bytes", ErrRequest, n)
	}
	b, err := readAll(r, int(n))
	if err != nil {
		return nil, fmt.Errorf("read control message: %w", err)
	}
	m, err := payload.UnmarshalBinMap(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	return m, nil
}
