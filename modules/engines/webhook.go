package engines

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"brine/modules/netapi"
	"brine/wire/event"
	"brine/wire/payload"
)

// webhook fires an event for each POST request: its path stands behind salt/engines/hook/ in the tag, headers and body
// are the data (salt/engines/webhook.py). Anybody who reaches the port may do that, as in Salt.
//
// Unlike Salt: a path with control characters, one that is no UTF-8 or too long is refused (a newline would begin the
// data), as is one that looks like the tag of a job to who searches tags for one. A certificate without a key does not
// mean clear text. Slow and half-open requests are given up, and what all together may hold in memory is bounded. Who
// sends a request is told when its event could not be fired.
type webhook struct {
	address, cert, key string
	port               int
}

// Bounds of the webhook.
const (
	hookConnections = 512 // at once
	hookPerAddress  = 128 // of one address, which may be a proxy
	// of one body in bytes, as Tornado has it; what is above max_event_size is not kept
	hookBody    = 100 << 20
	hookHeld    = 32 << 20             // of all bodies at once in bytes
	hookHeaders = 64 << 10             // of one request in bytes, as Tornado has it
	hookFirst   = 10 * time.Second     // for headers, and for the handshake of TLS
	hookWhole   = time.Minute          // for a request
	hookIdle    = 2 * time.Minute      // between requests
	hookFire    = 30 * time.Second     // until the event has been taken
	hookTag     = "salt/engines/hook/" // begins all tags
)

func newWebhook(f *fields) Engine {
	w := &webhook{address: f.text("address", ""), cert: f.text("ssl_crt", ""), key: f.text("ssl_key", ""),
		port: f.whole("port", 5000)}
	if (w.cert == "") != (w.key == "") {
		f.wrong = append(f.wrong, errors.New("ssl_crt and ssl_key belong together"))
	}
	if w.port > 65535 {
		f.fault("port", w.port, "port")
	}
	return w
}

// Run serves the port.
func (w *webhook) Run(ctx context.Context, to Surroundings) error {
	open, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(w.address, strconv.Itoa(w.port)))
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	defer func() { _ = open.Close() }() // the server has closed it
	var listener net.Listener = &crowd{Listener: open, log: to.Log}
	if w.cert != "" {
		pair, err := tls.LoadX509KeyPair(w.cert, w.key)
		if err != nil {
			return fmt.Errorf("webhook: %w", err)
		}
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair},
			MinVersion: tls.VersionTLS12})
	}
	server := &http.Server{Handler: netapi.Lingering(&hook{to: to}), ReadHeaderTimeout: hookFirst,
		ReadTimeout: hookWhole, WriteTimeout: hookWhole + hookFire, IdleTimeout: hookIdle, MaxHeaderBytes: hookHeaders,
		ErrorLog: slog.NewLogLogger(to.Log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context {
			return ctx
		}}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	defer func() { _ = server.Close() }()
	to.Log.Info("the webhook listens", "address", open.Addr().String(), "tls", w.cert != "")
	err = server.Serve(listener)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("webhook: %w", err)
}

// hook answers requests.
type hook struct {
	to   Surroundings
	held atomic.Int64 // bytes of bodies
}

// ServeHTTP answers one. The texts of errors are Tornado's.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	if r.Method != http.MethodPost {
		refuse(w, http.StatusMethodNotAllowed)
		return
	}
	tag := hookTag + strings.TrimPrefix(r.URL.Path, "/")
	if err := event.CheckGuestTag(tag); err != nil {
		h.to.Log.Warn("the webhook refuses a request", "peer", r.RemoteAddr, "err", err)
		refuse(w, http.StatusBadRequest)
		return
	}
	body, release, code := h.read(w, r)
	defer release()
	if code != 0 {
		refuse(w, code)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), hookFire)
	defer cancel()
	if err := h.to.Daemon.Fire(ctx, tag, payload.M("headers", headersOf(r), "body", body)); err != nil {
		told(h.to.Log, tag, err)
		refuse(w, http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func refuse(w http.ResponseWriter, code int) {
	w.WriteHeader(code)
	// he may have gone
	_, _ = fmt.Fprintf(w, "<html><title>%d: %s</title><body>%[1]d: %[2]s</body></html>", code, http.StatusText(code))
}

// step is how much of a body is read at once, in bytes.
const step = 64 << 10

// read reads a body. What is above the size of an event goes by: the event tells of it as of all that is too large.
func (h *hook) read(w http.ResponseWriter, r *http.Request) (body []byte, release func(), code int) {
	var held int64
	release = func() { h.held.Add(-held) }
	if r.ContentLength > hookBody {
		return nil, release, http.StatusRequestEntityTooLarge
	}
	most := int64(hookBody)
	if h.to.MaxEvent > 0 {
		most = min(most, int64(h.to.MaxEvent)+1)
	}
	limited := http.MaxBytesReader(w, r.Body, hookBody)
	for int64(len(body)) < most {
		if h.held.Add(step) > hookHeld {
			h.held.Add(-step)
			return nil, release, http.StatusServiceUnavailable
		}
		held += step
		more, err := io.ReadAll(io.LimitReader(limited, min(step, most-int64(len(body)))))
		body = append(body, more...)
		if err != nil {
			return nil, release, codeOf(err)
		}
		if len(more) == 0 {
			return body, release, 0
		}
	}
	if _, err := io.Copy(io.Discard, limited); err != nil {
		return nil, release, codeOf(err)
	}
	return body, release, 0
}

func codeOf(err error) int {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// headersOf are the headers by name, several of one name joined by commas. Go keeps no order of them.
func headersOf(r *http.Request) *payload.Map {
	m := payload.M("Host", r.Host)
	names := make([]string, 0, len(r.Header))
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		m.Set(name, strings.Join(r.Header[name], ","))
	}
	if len(r.TransferEncoding) > 0 {
		m.Set("Transfer-Encoding", strings.Join(r.TransferEncoding, ","))
	}
	return m
}
