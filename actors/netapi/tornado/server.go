package tornado

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	api "brine/actors/netapi"
	"brine/config"
	"brine/modules/netapi"
	"brine/wire/payload"
)

// Options of the server.
type Options struct {
	Config *config.Tornado
	Logger *slog.Logger
	// Gather is how long a job of the client local waits for returns (gather_job_timeout).
	Gather time.Duration
	// Bodies limits the memory for bodies in all servers. If it is nil, this server has its own limit.
	Bodies *netapi.Bodies
	// Extra are handlers below other paths, such as /console; the path is a prefix.
	Extra map[string]http.Handler
}

// server is the handler of all requests.
type server struct {
	api    api.API
	opt    Options
	conf   *config.Tornado
	log    *slog.Logger
	bodies *netapi.Bodies
}

// New makes the handler.
func New(a api.API, opt Options) http.Handler {
	if opt.Bodies == nil {
		opt.Bodies = netapi.NewBodies(opt.Config.MaxRequestBodySize)
	}
	return &server{api: a, opt: opt, conf: opt.Config, log: opt.Logger, bodies: opt.Bodies}
}

// call is one request in progress.
type call struct {
	*server
	w    http.ResponseWriter
	r    *http.Request
	ctx  context.Context
	head http.Header

	media   string // type of the answer
	arg     string // the part of the path after the resource
	body    any    // the parsed body
	hasBody bool
	intake  *netapi.Intake
}

// handler answers a method of a resource. An error that is not a netapi.Error is a 500.
type handler func(c *call) error

// resource holds the handlers of an address by method. long is for addresses with a further part after the
// name.
type resource struct{ short, long map[string]handler }

// resource finds the handlers of an address (salt/netapi/rest_tornado/__init__.py, get_application).
func (s *server) resource(path string) (handlers map[string]handler, arg string) {
	first, rest, deep := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	post := (*call).postRoot
	for name, res := range map[string]resource{
		"":       {short: map[string]handler{"GET": welcome, "POST": post}},
		"login":  {short: map[string]handler{"GET": getLogin, "POST": postLogin}},
		"run":    {short: map[string]handler{"GET": welcome, "POST": (*call).postRun}},
		"events": {short: map[string]handler{"GET": (*call).getEvents, "POST": post}},
		"minions": {short: map[string]handler{"GET": (*call).getMinions, "POST": (*call).postMinions},
			long: map[string]handler{"GET": (*call).getMinions}},
		"jobs": {short: map[string]handler{"GET": (*call).getJobs, "POST": post},
			long: map[string]handler{"GET": (*call).getJobs}},
		"hook": {short: map[string]handler{"POST": (*call).postHook},
			long: map[string]handler{"POST": (*call).postHook}},
	} {
		if name != first {
			continue
		}
		if deep {
			return res.long, rest
		}
		return res.short, ""
	}
	return nil, ""
}

// ServeHTTP answers a request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for prefix, h := range s.opt.Extra {
		if r.URL.Path == prefix || strings.HasPrefix(r.URL.Path, prefix+"/") {
			h.ServeHTTP(w, r)
			return
		}
	}
	c := &call{server: s, w: w, r: r, ctx: r.Context(), head: w.Header()}
	c.head.Set("Server", "brine")
	if token, formatted, ok := s.socketPath(r.URL.Path); ok {
		c.fail(c.socket(token, formatted))
		return
	}
	handlers, arg := s.resource(r.URL.Path)
	if handlers == nil {
		c.page(http.StatusNotFound)
		return
	}
	c.arg = arg
	defer func() { c.intake.Close() }()
	c.fail(c.serve(handlers))
}

// serve checks a request and calls its handler, in Salt's order: type of the answer, body, method.
func (c *call) serve(handlers map[string]handler) error {
	if origin := c.allowedOrigin(c.r.Header.Get("Origin")); origin != "" {
		c.head.Set("Access-Control-Allow-Origin", origin)
	}
	if err := c.negotiate(); err != nil {
		return err
	}
	if err := c.readBody(); err != nil {
		return err
	}
	if c.r.Method == http.MethodOptions {
		return c.options()
	}
	h := handlers[c.r.Method]
	if h == nil {
		return status(http.StatusMethodNotAllowed)
	}
	return h(c)
}

// status is an error without a text.
func status(code int) error { return &netapi.Error{Status: code} }

// fail answers with an error, if there is one.
func (c *call) fail(err error) {
	if err == nil || c.ctx.Err() != nil && errors.Is(err, context.Cause(c.ctx)) {
		return
	}
	var known *netapi.Error
	if errors.As(err, &known) {
		c.page(known.Status)
		return
	}
	c.log.Error("a request failed", "from", c.remote(), "path", netapi.LogPath(c.r.URL.Path), "err", err)
	c.page(http.StatusInternalServerError)
}

// options answers a browser's preflight request for a page of another origin.
func (c *call) options() error {
	wanted := c.r.Header.Values("Access-Control-Request-Headers")
	if len(wanted) == 0 {
		return status(http.StatusInternalServerError) // as in Salt
	}
	c.head.Set("Access-Control-Allow-Headers", strings.Join(wanted, ","))
	c.head.Set("Access-Control-Expose-Headers", "X-Auth-Token")
	c.head.Set("Access-Control-Allow-Methods", "OPTIONS, GET, POST")
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// allowedOrigin is the header value for pages of an origin, or "".
func (c *call) allowedOrigin(origin string) string {
	for _, allowed := range c.conf.CORSOrigin {
		if allowed == "*" && len(c.conf.CORSOrigin) == 1 {
			return "*"
		}
		if origin != "" && allowed == origin {
			return origin
		}
	}
	return ""
}

// cookieName is the name of the cookie with the eauth token.
const cookieName = "session_id"

// token is the client's eauth token, from the header or else from the cookie.
func (c *call) token() string {
	if token := c.r.Header.Get("X-Auth-Token"); token != "" {
		return token
	}
	if !c.cookieMay() { // browsers send the cookie for pages on other ports of this host, too
		return ""
	}
	if cookie, err := c.r.Cookie(cookieName); err == nil {
		return cookie.Value
	}
	return ""
}

// authenticated tells whether the client's token is valid. If not, it redirects the client to /login.
func (c *call) authenticated() (bool, error) {
	ok, err := c.holds(c.token())
	if err == nil && !ok {
		c.head.Set("Location", "/login")
		c.write(http.StatusFound, typeHTML, nil)
	}
	return ok, err
}

// holds asks the master whether a token is valid. It returns an error if the master does not answer.
func (c *call) holds(token string) (bool, error) {
	if !netapi.Hex(token) {
		return false, nil
	}
	if err := c.api.MasterHere(); err != nil { // otherwise the question waits
		return false, err
	}
	got, err := c.api.Token(c.ctx, token)
	var known *netapi.Error
	if errors.As(err, &known) && known.Status == http.StatusUnauthorized {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return expires(got).After(time.Now()), nil
}

func expires(token *payload.Map) time.Time {
	switch x := token.Value("expire").(type) {
	case float64:
		return time.UnixMilli(int64(min(x, 1e13) * 1e3))
	case int64:
		return time.Unix(x, 0)
	}
	return time.Time{}
}

// remote is the address of the client.
func (c *call) remote() string {
	host, _, err := net.SplitHostPort(c.r.RemoteAddr)
	if err != nil {
		return c.r.RemoteAddr
	}
	return host
}
