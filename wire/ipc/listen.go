package ipc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxPath is the longest path of a unix socket, in bytes: sun_path holds 108 with the closing zero.
const maxPath = 107

const (
	probeTimeout = time.Second      // to find out whether a process serves an existing socket
	acceptPause  = time.Second / 10 // after a failed accept, for example for lack of descriptors
	maxPeers     = 1024             // connections of one socket
	peersShare   = 8                // at most one in peersShare of the process's descriptors
)

var (
	// ErrPathTooLong means that the path of a socket is over 107 bytes, the limit of the system.
	ErrPathTooLong = errors.New("ipc: path of a unix socket is too long")
	// ErrInUse means that another process serves the socket.
	ErrInUse = errors.New("ipc: socket is in use")
	// ErrNotListening means that Serve was called before Listen.
	ErrNotListening = errors.New("ipc: not listening")
)

// MaxPeers is how many connections one socket accepts in this process: local tools must not use up the descriptors.
func MaxPeers() int {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return maxPeers
	}
	return int(max(min(lim.Cur/peersShare, maxPeers), 4))
}

// network splits an address for the net package.
func network(addr string) (kind, name string, err error) {
	if rest, ok := strings.CutPrefix(addr, "tcp://"); ok {
		return "tcp", rest, nil
	}
	if len(addr) > maxPath {
		return "", "", fmt.Errorf("%w: %s has %d bytes, the limit is %d; use a shorter sock_dir",
			ErrPathTooLong, addr, len(addr), maxPath)
	}
	return "unix", addr, nil
}

// Dial connects to a socket. If ctx ends first, the error is its cause.
func Dial(ctx context.Context, addr string) (net.Conn, error) {
	kind, name, err := network(addr)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, kind, name)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // the dialer returns an error of its own instead
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return conn, nil
}

// listener is a bound socket and its connections.
type listener struct {
	net.Listener
	waiting *waiting // accepts the connections of the socket
	addr    string
	log     *slog.Logger
}

// listen binds addr. It replaces a socket file that no process serves. The file never has more permissions than mode,
// not even while it is made.
func listen(addr string, mode fs.FileMode, log *slog.Logger) (*listener, error) {
	kind, name, err := network(addr)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	var lc net.ListenConfig
	if kind == "unix" {
		if err := removeStale(name); err != nil {
			return nil, err
		}
		lc.Control = restrict(mode)
	}
	ln, err := lc.Listen(context.Background(), kind, name)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	if kind == "unix" { // the umask may have removed bits
		if err := os.Chmod(name, mode); err != nil {
			return nil, errors.Join(fmt.Errorf("listen on %s: %w", addr, err), ln.Close())
		}
	}
	w, err := newWaiting(ln)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", addr, err), ln.Close())
	}
	return &listener{Listener: ln, waiting: w, addr: addr, log: log}, nil
}

// restrict sets the mode of the socket before it gets a name. On systems that refuse this, the mode is set just after
// the name.
func restrict(mode fs.FileMode) func(string, string, syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = unix.Fchmod(int(fd), uint32(mode.Perm())) })
	}
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if info.Mode().Type() == fs.ModeSocket {
		if conn, err := net.DialTimeout("unix", path, probeTimeout); err == nil {
			return errors.Join(fmt.Errorf("%w: %s", ErrInUse, path), conn.Close())
		}
	} else if !info.Mode().IsRegular() || info.Size() > 0 {
		return fmt.Errorf("%w: %s is not a socket", ErrInUse, path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove old socket: %w", err)
	}
	return nil
}

// close closes the socket of a server, if it has one.
func (l *listener) close() error {
	if l == nil {
		return nil
	}
	err := l.waiting.close()
	if e := l.Close(); !errors.Is(e, net.ErrClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// handler serves one connection, in a goroutine of its own.
type handler func(ctx context.Context, conn net.Conn)

// serve hands each connection to handle until ctx ends. It then closes the socket and all connections, waits for all
// handlers, and returns the cause.
func (l *listener) serve(ctx context.Context, handle handler) error {
	return l.serveEach(ctx, 0, func(net.Conn) handler { return handle })
}

// serveGently is serve, but when ctx ends it only stops reading. It closes a connection when its handler has returned,
// or after grace.
func (l *listener) serveGently(ctx context.Context, grace time.Duration, handle handler) error {
	return l.serveEach(ctx, grace, func(net.Conn) handler { return handle })
}

// serveEach is serve with a different handler for each connection. meet returns the handler. It is called for one
// connection at a time and must not block. takeWaiting waits for its calls.
func (l *listener) serveEach(ctx context.Context, grace time.Duration, meet func(conn net.Conn) handler) error {
	var peers sync.WaitGroup
	defer peers.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	closing := func() { _ = l.close() } // there is no way to handle an error
	defer closing()
	stop := context.AfterFunc(ctx, closing)
	defer stop()
	slots := make(chan struct{}, MaxPeers())
	var full, starved trouble // full belongs to take, which runs one call at a time
	take := func(conn net.Conn) {
		select {
		case slots <- struct{}{}:
		default:
			if full.begins() {
				l.log.Warn("too many connections, those that come now are refused", "socket", l.addr, "limit",
					cap(slots))
			}
			_ = conn.Close()
			return
		}
		handle := meet(conn)
		peers.Go(func() {
			defer func() { <-slots }()
			serveConn(ctx, conn, grace, handle)
		})
	}
	defer l.waiting.taker(take)()
	for {
		err := l.waiting.wait()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, net.ErrClosed) || errors.Is(err, fs.ErrClosed) {
			return fmt.Errorf("accept on %s: %w", l.addr, err)
		}
		if err != nil {
			if starved.begins() {
				l.log.Warn("accept failed", "socket", l.addr, "err", err)
			}
			pause(ctx, acceptPause)
		}
	}
}

// trouble is a problem that is logged once, and again only after it has been absent for a minute.
type trouble struct{ last time.Time }

func (t *trouble) begins() bool {
	now := time.Now()
	said := !t.last.IsZero() && now.Sub(t.last) < time.Minute
	t.last = now
	return !said
}

// takeWaiting accepts all connections that peers have made so far.
func (l *listener) takeWaiting() {
	if l != nil {
		l.waiting.now()
	}
}

func serveConn(ctx context.Context, conn net.Conn, grace time.Duration, handle handler) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { closeGently(conn, grace, done) })
	defer stop()
	defer conn.Close()
	defer close(done)
	handle(ctx, conn)
}

// closeGently closes a connection when its handler is done or after grace. Until then it can only be written to.
func closeGently(conn net.Conn, grace time.Duration, done <-chan struct{}) {
	if grace > 0 && conn.SetReadDeadline(time.Now()) == nil {
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-t.C:
		case <-done:
		}
	}
	_ = conn.Close()
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
