package ipc

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"sync/atomic"
)

const defaultMode = 0o600

// PullOptions configure a PullServer.
type PullOptions struct {
	Path   string       // or a tcp address
	Mode   fs.FileMode  // of the socket file, 0: 0600
	Logger *slog.Logger // nil: silent
}

// PullServer accepts events from local senders, in either framing.
type PullServer struct {
	opt      PullOptions
	ln       *listener
	bodies   atomic.Uint64
	rejected atomic.Uint64
}

// NewPullServer returns a PullServer that does not listen yet.
func NewPullServer(opt PullOptions) *PullServer {
	if opt.Mode == 0 {
		opt.Mode = defaultMode
	}
	return &PullServer{opt: opt}
}

// Listen binds the socket.
func (s *PullServer) Listen() error {
	ln, err := listen(s.opt.Path, s.opt.Mode, s.opt.Logger)
	s.ln = ln
	return err
}

// Close closes the socket. It is needed only if Serve is never called.
func (s *PullServer) Close() error { return s.ln.close() }

// Addr is the address for senders. It differs from Path if the system chose the tcp port.
func (s *PullServer) Addr() string { return boundAddr(s.ln, s.opt.Path) }

// Serve hands the body of each event to sink until ctx ends. It then removes the socket and returns the cause. The
// bodies of one sender come in order. Several senders call sink concurrently; while a call blocks, its sender waits.
func (s *PullServer) Serve(ctx context.Context, sink func(body []byte)) error {
	if s.ln == nil {
		return ErrNotListening
	}
	return s.ln.serve(ctx, func(ctx context.Context, conn net.Conn) {
		r := NewReader(conn, FramingDetect)
		for n := 0; ; n++ {
			body, err := r.Next()
			if n == 0 && errors.Is(err, io.EOF) { // the sender asks for the framing; a failed write means that it has gone
				_, _ = io.WriteString(conn, takesBoth)
			}
			if err != nil {
				s.onEnd(ctx, err)
				return
			}
			s.bodies.Add(1)
			sink(body)
		}
	})
}

func (s *PullServer) onEnd(ctx context.Context, err error) {
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return
	}
	if errors.Is(err, ErrFrame) {
		s.rejected.Add(1)
	}
	s.ln.log.Warn("event sender dropped", "socket", s.opt.Path, "err", err)
}

// Counts returns how many events came in, and how many senders were dropped because they sent something else.
func (s *PullServer) Counts() (bodies, rejected uint64) { return s.bodies.Load(), s.rejected.Load() }

// boundAddr is the requested address, with the port that the system chose.
func boundAddr(ln *listener, asked string) string {
	if ln != nil && ln.Addr().Network() == "tcp" {
		return "tcp://" + ln.Addr().String()
	}
	return asked
}
