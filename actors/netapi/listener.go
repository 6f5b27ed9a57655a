package netapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"brine/config"
	"brine/modules/fleet/door"
	"brine/modules/netapi"
	"brine/supervisor"
)

// Listen tells where a server listens.
type Listen struct {
	Host string
	Port int // 0: any free port

	// Certificate, Key and Chain are PEM files. Without a certificate the server uses plain HTTP.
	Certificate, Key, Chain string

	Front  config.Front // limits for connections, and trusted proxies
	Bound  func(string) // gets the address; may be nil
	Logger *slog.Logger
}

// These limits keep clients from holding connections for nothing. The handler limits the time for a body.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
	stopWithin    = 2 * time.Second
)

// listenerSpec is the spec of the child that owns the port of a server.
func listenerSpec(m Module, h http.Handler) supervisor.Spec {
	return supervisor.Spec{Name: m.Name, Intake: false, StopTimeout: 2 * stopWithin, New: func() supervisor.Actor {
		return &listener{opt: m.Listen, name: m.Name, handler: h}
	}}
}

// listener owns a port. It gets no messages, because goroutines of the HTTP server answer the requests.
type listener struct {
	opt     Listen
	name    string
	handler http.Handler
}

// clientOf stores the address of the client in the contexts of its requests.
func clientOf(ctx context.Context, conn net.Conn) context.Context {
	return netapi.WithFrom(ctx, addressOf(conn))
}

// addressOf is the address of the client, without its port.
func addressOf(conn net.Conn) string {
	from, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return conn.RemoteAddr().String()
	}
	return from
}

func (l *listener) Receive(ctx supervisor.Context) {
	switch ctx.Message().(type) {
	case *supervisor.Started:
		l.onStarted(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (l *listener) onStarted(ctx supervisor.Context) {
	server := &http.Server{Handler: netapi.BehindProxies(l.opt.Front.Proxies, netapi.Lingering(l.handler)),
		ErrorLog: slog.NewLogLogger(l.opt.Logger.Handler(), slog.LevelDebug), ReadHeaderTimeout: headerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ConnContext: clientOf, ConnState: atRest}
	var err error
	if l.opt.Certificate != "" {
		if server.TLSConfig, err = newCertificate(l.opt).config(); err != nil {
			supervisor.Crash(fmt.Errorf("%s: %w", l.name, err))
		}
		// only HTTP/1.1, because of WebSockets and limits for connections
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	addr := net.JoinHostPort(l.opt.Host, strconv.Itoa(l.opt.Port))
	ln, err := (&net.ListenConfig{}).Listen(supervisor.Lifetime(ctx), "tcp", addr)
	if err != nil {
		supervisor.Crash(fmt.Errorf("%s: %w", l.name, err))
	}
	ctx.Logger().Info(fmt.Sprintf("%s serves on %s", l.name, ln.Addr()))
	if l.opt.Bound != nil {
		l.opt.Bound(ln.Addr().String())
	}
	front := l.opt.Front
	bounded := &limited{Listener: ln, log: l.opt.Logger, room: &netapi.Room{Most: max(1, front.MaxConnections),
		Each: front.EachAddress, Proxies: front.Proxies}}
	supervisor.Go(ctx, l.name+" listener", func(ctx context.Context) error {
		server.BaseContext = func(net.Listener) context.Context { return ctx }
		return serve(ctx, server, bounded)
	})
}

// serve answers until ctx ends. Then it closes the port, and each connection after its answer or after a
// timeout.
func serve(ctx context.Context, server *http.Server, ln net.Listener) error {
	ended := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			ended <- server.ServeTLS(ln, "", "")
			return
		}
		ended <- server.Serve(ln)
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
		calm, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
		defer cancel()
		err := server.Shutdown(calm)
		if err != nil {
			err = server.Close()
		}
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return errors.Join(context.Cause(ctx), err)
	}
}

// limited accepts connections within the limits, and closes the others.
type limited struct {
	net.Listener
	room  *netapi.Room
	log   *slog.Logger
	lines door.Lines
}

// Accept waits for the next connection within the limits.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := addressOf(c)
		if l.enter(from) {
			return &limitedConn{Conn: c, room: l.room, from: from}, nil
		}
		_ = c.Close() // the limit leaves no way to say why
		if more, due := l.lines.Due("connections", door.Network(from)); due {
			l.log.Warn("a connection is closed: there are too many, of this address or in all (connections_max, "+
				"connections_per_address)", "from", from, "more", more)
		}
	}
}

// enter takes a place. If none is free, an idle kept-alive connection gives way.
func (l *limited) enter(from string) bool {
	if l.room.Enter(from) {
		return true
	}
	idle := l.room.GiveWay(from)
	if idle == nil {
		return false
	}
	_ = idle.Close() // no request on it waits
	return l.room.Enter(from)
}

// limitedConn frees its place once.
type limitedConn struct {
	net.Conn
	room *netapi.Room
	from string
	once sync.Once
}

// NetConn returns the connection below, for code that sets its options.
func (c *limitedConn) NetConn() net.Conn { return c.Conn }

func (c *limitedConn) Close() error {
	c.once.Do(func() {
		c.room.Wake(c.from, c)
		c.room.Leave(c.from)
	})
	return c.Conn.Close()
}

// atRest notes which kept-alive connections have no request.
func atRest(conn net.Conn, state http.ConnState) {
	if secured, is := conn.(*tls.Conn); is {
		conn = secured.NetConn()
	}
	c, is := conn.(*limitedConn)
	switch {
	case !is:
	case state == http.StateIdle:
		c.room.Rest(c.from, c)
	default:
		c.room.Wake(c.from, c)
	}
}

// Secured returns Listen with a certificate if TLS is on.
func (l Listen) Secured(on bool, crt, key, chain string) Listen {
	if on {
		l.Certificate, l.Key, l.Chain = crt, key, chain
	}
	return l
}
