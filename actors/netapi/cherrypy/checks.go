package cherrypy

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"brine/modules/netapi"
	"brine/wire/payload"
)

// crossOrigin sets the headers for pages of other origins, and tells whether the request is complete with that
// (OPTIONS). Unlike Salt: cors_origin must name the origin.
func (c *call) crossOrigin() bool {
	origin := c.r.Header.Get("Origin")
	named := origin == "" || slices.Contains(c.conf.CORSOrigin, "*") || slices.Contains(c.conf.CORSOrigin, origin)
	if named {
		if origin == "" {
			origin = "*"
		}
		c.head.Set("Access-Control-Allow-Origin", origin)
		c.head.Set("Access-Control-Expose-Headers", "GET, POST")
		c.head.Set("Access-Control-Allow-Credentials", "true")
	}
	if c.r.Method != http.MethodOptions {
		c.head.Set("Vary", "Accept-Encoding")
		return false
	}
	if wanted := c.r.Header.Get("Access-Control-Request-Method"); named && (wanted == http.MethodGet ||
		wanted == http.MethodPost) {
		c.head.Set("Access-Control-Allow-Methods", "GET, POST")
		c.head.Set("Access-Control-Allow-Headers", "Content-Type, X-Auth-Token, X-Requested-With")
		c.head.Set("Connection", "keep-alive")
		c.head.Set("Access-Control-Max-Age", "1400")
	}
	return true
}

// cookieName is the name of the session cookie.
const cookieName = "session_id"

// presented is the session id in a request, from the header or else from the cookie. Unlike Salt: the cookie
// does not count if the page has another origin, unless cors_origin names it. Browsers also send the cookie for
// pages on other ports of this host.
func (c *call) presented() string {
	if id := c.r.Header.Get("X-Auth-Token"); id != "" {
		return id
	}
	if !c.pageMay() {
		return ""
	}
	if cookie, err := c.r.Cookie(cookieName); err == nil {
		return cookie.Value
	}
	return ""
}

// session finds the session of a request. If the method needs a session and there is none, the error is a 401.
func (c *call) session(method string) error {
	if c.res.free || !c.res.hasSession(method) {
		return nil
	}
	c.newID = true
	if id := c.presented(); id != "" {
		token, err := c.api.Sessions().Token(c.ctx, id)
		if err != nil {
			return err
		}
		if token != "" {
			c.sessionID, c.token, c.newID = id, token, false
		}
	}
	if !c.res.needsSession(method) {
		return nil
	}
	if c.token == "" {
		return netapi.Unauthorized("")
	}
	c.head.Set("Cache-Control", "private")
	return nil
}

// setCookie sends the client its session id. A client without a session gets a new id that belongs to no
// session, as in Salt. A page of another origin gets none, because that would end the session of a page of this
// origin.
func (c *call) setCookie() {
	if !c.pageMay() {
		return
	}
	id := c.sessionID
	if c.newID || c.expired {
		id = netapi.NewSessionID()
	}
	if id == "" {
		return
	}
	cookie := &http.Cookie{Name: cookieName, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: c.r.TLS != nil, Expires: time.Now().Add(netapi.SessionLife),
		MaxAge: int(netapi.SessionLife / time.Second)}
	if c.expired {
		cookie.Expires, cookie.MaxAge = time.Now().AddDate(-1, 0, 0), 0
	}
	c.w.Header().Del("Set-Cookie") // from an answer that was begun
	http.SetCookie(c.w, cookie)
}

// readBody reads and parses the body of the request, if there is one.
func (c *call) readBody() error {
	switch {
	case c.res.free || c.r.Method == http.MethodGet || c.r.Method == http.MethodHead:
		return nil
	case c.r.ContentLength <= 0 && c.r.Method == http.MethodPost: // a body of unknown length does not count, as in Salt
		return nil
	case c.r.ContentLength <= 0:
		return nil
	}
	if err := netapi.Acceptable(c.r.Header.Get("Content-Type")); err != nil {
		return err
	}
	var err error
	c.intake, err = c.bodies.Take(c.w, c.r, c.remote(), netapi.Limits{Longest: c.conf.MaxRequestBodySize,
		Grace: c.opt.BodyWithin})
	if err != nil {
		c.head.Set("Connection", "close") // the rest of the body stays unread
		return err
	}
	c.hasBody = true
	c.body, err = c.intake.Read(c.r.Header.Get("Content-Type"))
	return err
}

// fromAllowed checks the address of the client (authorized_ips).
func (c *call) fromAllowed() error {
	if c.res.free || len(c.conf.AuthorizedIPs) == 0 || slices.Contains(c.conf.AuthorizedIPs, c.remote()) {
		return nil
	}
	if more, due := c.lines.Due("authorized_ips", c.remote()); due {
		c.log.Error("Blocked IP: "+c.remote(), "from", c.remote(), "more", more)
	}
	return &netapi.Error{Status: http.StatusForbidden, Message: "Bad IP"}
}

// mayLogIn checks the address of a user who logs in (api_acl).
func (c *call) mayLogIn(user string) bool {
	acl := c.conf.APIACL
	if acl.Len() == 0 {
		return true
	}
	users := acl.Map("users")
	key := user
	if !users.Has(key) {
		key = "*"
	}
	list := users.Value(key)
	if text, ok := list.(string); ok {
		return text == "*" || strings.Contains(text, c.remote())
	}
	may := payload.Texts(users.List(key))
	ok := slices.Contains(may, c.remote()) || slices.Contains(may, "*")
	if !ok {
		c.log.Info("[api_acl] Authentication failed for user "+payload.Show(user)+" from IP "+c.remote(), "from",
			c.remote())
	}
	return ok
}
