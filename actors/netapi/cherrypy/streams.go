package cherrypy

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"brine/actors/netapi/events"
	"brine/modules/netapi"
	"brine/modules/netapi/feed"
	"brine/modules/netapi/websocket"
	"brine/wire/payload"
)

// getEvents streams the master's events to a client with a session or an eauth token.
func (c *call) getEvents(*any) error {
	if c.r.URL.RawQuery != "" {
		return netapi.BadRequest("The /events endpoint takes no query parameters; a token in an address would end " +
			"up in logs. " +
			"Send it in the header X-Auth-Token, or the cookie that /login sets.")
	}
	token := c.token
	if token == "" {
		token = c.presented()
	}
	if !netapi.Hex(token) {
		return netapi.Unauthorized("")
	}
	reader, err := c.reader(token)
	if err != nil {
		return err
	}
	c.setCookie()
	return c.api.Hub().ServeSSE(c.w, c.r, reader, events.CherryPy)
}

// getSocket opens a WebSocket for a client with a session id in the header, the cookie, or the path.
func (c *call) getSocket(*any) error {
	if _, none := c.r.Cookie(cookieName); none == nil && len(c.args) == 0 && !c.pageMay() {
		// a client without a cookie learns that it needs a session
		return &netapi.Error{Status: http.StatusForbidden, Message: "Pages of other origins may not use the cookie " +
			"of a session"}
	}
	token := c.token
	if len(c.args) > 0 {
		var err error
		if token, err = c.api.Sessions().Token(c.ctx, c.args[0]); err != nil {
			return err
		}
	}
	if token == "" {
		return netapi.Unauthorized("")
	}
	reader, err := c.reader(token)
	if err != nil {
		return err
	}
	c.setCookie()
	err = c.api.Hub().ServeWebSocket(c.w, c.r, reader, events.WebSocket{Style: events.CherryPy,
		Format: c.r.URL.Query().Has("format_events"),
		Grains: func(ctx context.Context, ids []string) error {
			low := payload.M("client", netapi.LocalAsync, "tgt", "*", "fun", "grains.items", "token", token)
			if len(ids) > 0 {
				low.Set("tgt", payload.AnyList(ids)).Set("tgt_type", "list")
			}
			_, err := c.api.Run(ctx, low)
			return err
		}})
	if errors.Is(err, websocket.ErrHandshake) {
		return netapi.BadRequest("This address takes WebSockets only")
	}
	return err
}

// errOtherPage is the error for pages of other origins that try to log a user in, under any name or with
// guessed passwords.
var errOtherPage = &netapi.Error{Status: http.StatusForbidden, Message: "Pages of other origins may not log in " +
	"here, unless cors_origin names them"}

// pageMay tells whether the requesting page may use a cookie, because browsers send cookies for any page of the
// same site, even of another port of the host. Unlike Salt: its server accepts every page.
func (c *call) pageMay() bool {
	return c.r.Header.Get("X-Auth-Token") != "" || websocket.SameOrigin(c.r) ||
		slices.Contains(c.conf.CORSOrigin, "*") || slices.Contains(c.conf.CORSOrigin, c.r.Header.Get("Origin"))
}

// reader gives the owner of a valid token a position in the stream of events.
func (c *call) reader(token string) (events.Reader, error) {
	if err := c.api.MasterHere(); err != nil { // otherwise the question about the token waits
		return events.Reader{}, err
	}
	held := c.api.Tokens().Hold(token)
	if err := held.Check(c.ctx, true); err != nil {
		held.Close()
		if errors.Is(err, feed.ErrToken) {
			return events.Reader{}, netapi.Unauthorized("")
		}
		return events.Reader{}, err
	}
	stream, err := c.api.Hub().Open(c.ctx, c.remote())
	if err == nil {
		return events.Reader{Stream: stream, Token: held}, nil
	}
	held.Close()
	switch {
	case errors.Is(err, feed.ErrFull):
		err = netapi.Busy("streams")
	case errors.Is(err, feed.ErrNoBus), errors.Is(err, feed.ErrStopped):
		err = &netapi.Error{Status: http.StatusServiceUnavailable, Message: netapi.MasterGone().Message}
	}
	return events.Reader{}, err
}
