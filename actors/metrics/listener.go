package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"brine/supervisor"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// ListenerOptions configure the listener.
type ListenerOptions struct {
	Host   string
	Port   int // 0: any free port
	Set    *Set
	Logger *slog.Logger // for the HTTP server
}

// Listener is the spec of the child for the daemon's tree.
func Listener(opt ListenerOptions) supervisor.Spec {
	return supervisor.Spec{Name: "Metrics", New: func() supervisor.Actor { return &listener{opt: opt} }}
}

// listener owns the port. It gets no messages, because the goroutines of the HTTP server make the answers.
type listener struct{ opt ListenerOptions }

func (l *listener) Receive(ctx supervisor.Context) {
	switch ctx.Message().(type) {
	case *supervisor.Started:
		l.onStarted(ctx)
	default:
		supervisor.Unhandled(ctx)
	}
}

func (l *listener) onStarted(ctx supervisor.Context) {
	addr := net.JoinHostPort(l.opt.Host, strconv.Itoa(l.opt.Port))
	ln, err := (&net.ListenConfig{}).Listen(supervisor.Lifetime(ctx), "tcp", addr)
	if err != nil {
		supervisor.Crash(fmt.Errorf("metrics: %w", err))
	}
	ctx.Logger().Info(fmt.Sprintf("Prometheus /metrics listener bound on %s", ln.Addr()))
	server := newServer(l.opt)
	supervisor.Go(ctx, "metrics listener", func(ctx context.Context) error { return serve(ctx, server, ln) })
}

// These limits protect the HTTP server: a client can neither hold connections for nothing nor cause endless
// scrapes.
const (
	headerTimeout = 5 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	maxInFlight   = 4
)

func newServer(opt ListenerOptions) *http.Server {
	errorLog := slog.NewLogLogger(opt.Logger.Handler(), slog.LevelDebug)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(opt.Set.reg, promhttp.HandlerOpts{
		ErrorLog: errorLog, ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxInFlight,
	}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "The metrics are at /metrics.\n") // a client that is gone needs no text
	})
	return &http.Server{Handler: mux, ErrorLog: errorLog, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader}
}

// serve answers until ctx ends, then closes the port and every connection.
func serve(ctx context.Context, server *http.Server, ln net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()
	select {
	case err := <-ended:
		return fmt.Errorf("metrics: %w", err)
	case <-ctx.Done():
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return errors.Join(context.Cause(ctx), err)
	}
}
