package tornado

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"brine/actors/netapi/events"
	"brine/modules/netapi"
	"brine/modules/netapi/feed"
	"brine/modules/netapi/websocket"
	"brine/wire/payload"
)

// getEvents streams the master's events.
func (c *call) getEvents() error {
	if ok, err := c.authenticated(); !ok {
		return err
	}
	reader, err := c.reader(c.token())
	if err != nil {
		return err
	}
	return c.api.Hub().ServeSSE(c.w, c.r, reader, events.Tornado)
}

// reader gives the client a position in the stream.
func (c *call) reader(token string) (events.Reader, error) {
	if err := c.api.MasterHere(); err != nil {
		return events.Reader{}, err
	}
	stream, err := c.api.Hub().Open(c.ctx, c.remote())
	if errors.Is(err, feed.ErrFull) || errors.Is(err, feed.ErrNoBus) || errors.Is(err, feed.ErrStopped) {
		c.log.Warn("no stream of events for a client", "from", c.remote(), "err", err)
		return events.Reader{}, status(http.StatusServiceUnavailable)
	}
	if err != nil {
		return events.Reader{}, err
	}
	stream.SetName("rest_tornado " + c.r.RemoteAddr)
	return events.Reader{Stream: stream, Token: c.api.Tokens().Hold(token)}, nil
}

// socketPath parses the addresses of websockets: a name, and a token with as many digits as tokens have.
func (s *server) socketPath(path string) (token string, formatted, ok bool) {
	name, token, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !s.conf.Websockets || name != "all_events" && name != "formatted_events" || len(token) != s.conf.TokenDigits {
		return "", false, false
	}
	for _, r := range token {
		if !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return "", false, false
		}
	}
	return token, name == "formatted_events", true
}

// socket opens a websocket for a client with a token.
func (c *call) socket(token string, formatted bool) error {
	if c.r.Method != http.MethodGet {
		return status(http.StatusMethodNotAllowed)
	}
	ok, err := c.holds(token)
	if err != nil {
		return err
	}
	if !ok {
		return status(http.StatusUnauthorized)
	}
	if !c.handshake() {
		return nil
	}
	reader, err := c.reader(token)
	if err != nil {
		return err
	}
	err = c.api.Hub().ServeWebSocket(c.w, c.r, reader, events.WebSocket{Style: events.Tornado, Format: formatted,
		Grains: func(ctx context.Context, ids []string) error { return c.grains(ctx, token, ids) }})
	if errors.Is(err, websocket.ErrHandshake) {
		return status(http.StatusBadRequest)
	}
	return err
}

// handshake tells whether a request is a websocket handshake of a permitted page. Otherwise it answers in
// Tornado's words.
func (c *call) handshake() bool {
	switch {
	case !strings.EqualFold(c.r.Header.Get("Upgrade"), "websocket"):
		c.text(http.StatusBadRequest, `Can "Upgrade" only to "WebSocket".`)
	case !strings.Contains(strings.ToLower(c.r.Header.Get("Connection")), "upgrade"):
		c.text(http.StatusBadRequest, `"Connection" must be "Upgrade".`)
	case !c.originMay():
		c.text(http.StatusForbidden, "Cross origin websockets not allowed")
	case c.r.Header.Get("Sec-WebSocket-Version") != "13":
		c.head.Set("Sec-WebSocket-Version", "13")
		c.text(http.StatusUpgradeRequired, "")
	default:
		return true
	}
	return false
}

// originMay tells whether the page that opens a websocket may do so. The page must be of this host or, if
// cors_origin is set, named there.
func (c *call) originMay() bool {
	if len(c.conf.CORSOrigin) > 0 && c.r.Header.Get("Origin") != "" {
		return c.allowedOrigin(c.r.Header.Get("Origin")) != "" || slices.Contains(c.conf.CORSOrigin, "*")
	}
	return websocket.SameOrigin(c.r)
}

// cookieMay tells whether the requesting page may use a cookie, or log in.
func (c *call) cookieMay() bool { return websocket.SameOrigin(c.r) || c.originMay() }

// grains starts a job that asks minions for their grains.
func (c *call) grains(ctx context.Context, token string, ids []string) error {
	low := payload.M("client", netapi.LocalAsync, "fun", funGrains, "tgt", "*", "token", token)
	if ids != nil {
		low.Set("tgt", payload.AnyList(ids)).Set("tgt_type", "list")
	}
	_, err := c.api.Unlisted(ctx, low, c.opt.Gather)
	return err
}
