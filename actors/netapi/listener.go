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

// Listen says where a server listens.
type Listen struct {
	Host string
	Port int // 0: any that is free

	// Certificate, key and chain are files of PEM; without a certificate the server speaks plain HTTP.
	Certificate, Key, Chain string

	Front  config.Front // who may hold connections, and behind whom others are
	Bound  func(string) // told the address; may be nil
	Logger *slog.Logger
}

// Limits of a server: nobody can hold connections for nothing. How long a body may take is the handler's.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
	stopWithin    = 2 * time.Second
)

// listenerSpec is the child that owns the port of a server.
func listenerSpec(m Module, h http.Handler) supervisor.Spec {
	return supervisor.Spec{Name: m.Name, Intake: false, StopTimeout: 2 * stopWithin, New: func() supervisor.Actor {
		return &listener{opt: m.Listen, name: m.Name, handler: h}
	}}
}

// listener owns a port. It gets no messages: requests are answered in the goroutines of the HTTP server.
type listener struct {
	opt     Listen
	name    string
	handler http.Handler
}

// clientOf notes the address of the client in the contexts of its requests.
func clientOf(ctx context.Context, conn net.Conn) context.Context {
	return netapi.WithFrom(ctx, addressOf(conn))
}

// addressOf is the address of the other end, without its port.
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
		// HTTP/1.1 alone: WebSockets, and limits by connection
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

// serve answers until ctx ends, then closes the port, and every connection once its answer is out or its time is over.
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

// limited takes the connections for which there is room, and closes the others.
type limited struct {
	net.Listener
	room  *netapi.Room
	log   *slog.Logger
	lines door.Lines
}

// Accept waits for the next connection for which there is room.
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
		_ = c.Close() // there is no room to say why
		if more, due := l.lines.Due("connections", door.Network(from)); due {
			l.log.Warn("a connection is closed: there are too many, of this address or in all (connections_max, "+
				"connections_per_address)", "from", from, "more", more)
		}
	}
}

// enter takes a place. Where there is none, one that is kept alive for requests that may come gives way.
func (l *limited) enter(from string) bool {
	if l.room.Enter(from) {
		return true
	}
	idle := l.room.GiveWay(from)
	if idle == nil {
		return false
	}
	_ = idle.Close() // nobody waits for anything on it
	return l.room.Enter(from)
}

// limitedConn gives its place back once.
type limitedConn struct {
	net.Conn
	room *netapi.Room
	from string
	once sync.Once
}

// NetConn is the connection below, for who sets its options.
func (c *limitedConn) NetConn() net.Conn { return c.Conn }

func (c *limitedConn) Close() error {
	c.once.Do(func() {
		c.room.Wake(c.from, c)
		c.room.Leave(c.from)
	})
	return c.Conn.Close()
}

// atRest notes which connections are kept alive without a request.
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

// Secured is Listen with a certificate, where TLS is on.
func (l Listen) Secured(on bool, crt, key, chain string) Listen {
	if on {
		l.Certificate, l.Key, l.Chain = crt, key, chain
	}
	return l
}
