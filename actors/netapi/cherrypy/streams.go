package cherrypy

import (
	"net/http"

	"brine/modules/netapi"
)

// getEvents streams the events of the master to who has a session or an eauth token.
func (c *call) getEvents(*any) error {
	if c.r.URL.RawQuery != "" {
		return netapi.BadRequest("The /events endpoint takes no query parameters; a token in an address would end up in logs. " +
			"Send it in the header X-Auth-Token, or the cookie that /login sets.")
	}
	token := c.token
	if token == "" {
		token = c.presented()
	}
	if !netapi.Hex(token) {
		return netapi.Unauthorized("")
	}
	if _, err := c.api.Token(c.ctx, token); err != nil {
		return err
	}
	c.setCookie()
	c.opt.Streams.Events(c.w, c.r, token, c.remote())
	return nil
}

// getSocket opens a WebSocket for who has a session: by header, by cookie, or in the path.
func (c *call) getSocket(*any) error {
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
	if _, err := c.api.Token(c.ctx, token); err != nil {
		return err
	}
	c.opt.Streams.Socket(c.w, c.r, token, c.remote(), c.r.URL.Query().Has("format_events"))
	return nil
}

// Streams write the events of the master to clients until these go away or are not allowed any more. token is the eauth token of
// the client, from its address.
type Streams interface {
	Events(w http.ResponseWriter, r *http.Request, token, from string)
	Socket(w http.ResponseWriter, r *http.Request, token, from string, formatted bool)
}
