package websocket

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gorilla/websocket"
)

// Errors of Upgrade.
var (
	// the request is none of RFC 6455, version 13
	ErrHandshake = errors.New("websocket: no handshake")
	ErrLost      = errors.New("websocket: connection lost in the handshake") // nothing can be answered any more
)

// Server makes websockets of requests.
type Server struct {
	upgrader websocket.Upgrader
}

// NewServer makes a Server.
func NewServer() *Server {
	return &Server{websocket.Upgrader{
		ReadBufferSize:  readRoom,
		WriteBufferPool: new(sync.Pool),
		CheckOrigin:     func(*http.Request) bool { return true }, // who may is known to who calls: see SameOrigin
		Error:           func(http.ResponseWriter, *http.Request, int, error) {},
	}}
}

// Upgrade answers the handshake of a client; header is sent along. The answer is left to the caller with ErrHandshake,
// and when the connection cannot be taken over; it is too late for one with ErrLost.
func (s *Server) Upgrade(w http.ResponseWriter, r *http.Request, header http.Header) (*Conn, error) {
	if !r.ProtoAtLeast(1, 1) {
		return nil, ErrHandshake
	}
	t := &takeover{ResponseWriter: w}
	ws, err := s.upgrader.Upgrade(t, r, header)
	switch {
	case err == nil:
		return newConn(ws, t.line), nil
	case t.line != nil:
		return nil, fmt.Errorf("%w: %w", ErrLost, errors.Join(err, ignoreClosed(t.line.Close())))
	case t.err != nil:
		return nil, t.err
	}
	return nil, fmt.Errorf("%w: %w", ErrHandshake, err)
}

// ignoreClosed leaves out that a connection was closed before.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// takeover puts a line between a websocket and its connection.
type takeover struct {
	http.ResponseWriter
	line *line
	err  error
}

// Hijack takes the connection over from the HTTP server.
func (t *takeover) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err != nil {
		t.err = err
		return nil, nil, err
	}
	t.line = &line{Conn: conn}
	return t.line, rw, nil
}

// SameOrigin tells whether a request comes from a page of its own host, or from no page at all. A browser sends cookies
// along with what any page of the same site asks, other ports of the host included, so where a cookie is what lets a
// client in, another origin has to be refused. What browsers say of the site (Sec-Fetch-Site) counts first, for a proxy
// may have changed the host; they say it where there is TLS. Who follows a link or types an address comes from no page.
// Programs say nothing of all this.
func SameOrigin(r *http.Request) bool {
	origins := r.Header["Origin"]
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "same-origin" && len(origins) < 2:
		return true
	case len(origins) == 0:
		return site == "" || site == "none" || r.Header.Get("Sec-Fetch-Mode") == "navigate"
	case site == "same-site", site == "cross-site":
		return false
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}
