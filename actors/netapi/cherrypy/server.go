package cherrypy

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	api "brine/actors/netapi"
	"brine/config"
	"brine/modules/fleet/door"
	"brine/modules/netapi"
)

// Options of the server.
type Options struct {
	Config *config.CherryPy
	Logger *slog.Logger
	// Bodies limits the memory for bodies in all servers. If it is nil, this server has its own limit.
	Bodies *netapi.Bodies
	// BodyWithin bounds the time for a short body, by default 20 s. A long body has more time.
	BodyWithin time.Duration
	// Extra are handlers below other paths, such as /console; the path is a prefix.
	Extra map[string]http.Handler
}

// server is the handler of all requests.
type server struct {
	api    api.API
	opt    Options
	conf   *config.CherryPy
	routes map[string]*resource // by the first part of the path
	log    *slog.Logger
	stats  *statistics
	bodies *netapi.Bodies
	access *accessLog
	lines  door.Lines
}

// New makes the handler. An error means that a file in the configuration cannot be used.
func New(a api.API, opt Options) (http.Handler, error) {
	s := &server{api: a, opt: opt, conf: opt.Config, log: opt.Logger, stats: newStatistics(opt.Config.CollectStats),
		bodies: opt.Bodies}
	if s.bodies == nil {
		s.bodies = netapi.NewBodies(s.conf.MaxRequestBodySize)
	}
	s.routes = s.resources()
	var err error
	s.access, err = openAccessLog(opt.Config.LogAccessFile, s.log)
	return s, err
}

// call is one request in progress.
type call struct {
	*server
	w   http.ResponseWriter
	r   *http.Request
	res *resource
	ctx context.Context

	path string   // below root_prefix
	args []string // parts of the path after the resource
	head http.Header

	sessionID string // an existing session; "" for none
	token     string // the session's eauth token
	newID     bool   // the cookie gets an id without a session
	expired   bool   // the cookie is to be removed
	proved    bool   // the master has accepted the credentials in the body

	intake  *netapi.Intake
	body    netapi.Body
	hasBody bool
	status  int // of an answer without error
}

// ServeHTTP answers a request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := s.stats.begin()
	rec, whole := &recorder{ResponseWriter: w}, false
	c := &call{server: s, w: rec, r: r, ctx: r.Context(), head: rec.Header(), status: http.StatusOK}
	defer func() { c.intake.Close() }()
	defer func() {
		// net/http logs the panic of a handler; the client must learn that there will be no answer
		if !whole && rec.status == 0 {
			s.log.Error("a request died", "from", hostOf(r), "path", netapi.LogPath(r.URL.Path))
			http.Error(rec, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
			_ = http.NewResponseController(rec).Flush()
		}
		s.stats.end(seen, r, rec)
		s.access.write(r, rec, c.token != "" || c.proved)
	}()
	c.serve()
	whole = true
}

// serve finds the resource and lets it answer.
func (c *call) serve() {
	path, ok := c.below()
	if !ok {
		return
	}
	c.path = path
	if h := c.extra(); h != nil {
		h.ServeHTTP(c.w, c.r)
		return
	}
	c.head.Set("Server", "brine")
	if c.wantsPage() {
		c.res = c.routes[part(c.conf.AppPath)]
		c.head.Set("Allow", c.res.allow)
		c.crossOrigin()
		c.serveFile(c.conf.App)
		return
	}
	if c.static() {
		return
	}
	c.find()
	if err := c.answer(); err != nil {
		c.fail(err)
	}
}

// extra returns the handler of another package for this path.
func (c *call) extra() http.Handler {
	for prefix, h := range c.opt.Extra {
		if c.path == prefix || strings.HasPrefix(c.path, prefix+"/") {
			return h
		}
	}
	return nil
}

// below removes root_prefix from the path. ok is false if the request was answered already.
func (c *call) below() (string, bool) {
	prefix := strings.TrimRight(c.conf.RootPrefix, "/")
	path := c.r.URL.Path
	if prefix == "" {
		return path, true
	}
	if path == prefix && (c.r.Method == http.MethodGet || c.r.Method == http.MethodHead) {
		c.movedToSlash()
		return "", false
	}
	if path == prefix { // a redirect would lose the body
		return "/", true
	}
	rest, ok := strings.CutPrefix(path, prefix+"/")
	if !ok {
		c.w.Header()["Content-Type"] = nil // no Content-Type, as in Salt
		c.w.WriteHeader(http.StatusNotFound)
		return "", false
	}
	return "/" + rest, true
}

// movedToSlash sends a client from /prefix to /prefix/.
func (c *call) movedToSlash() {
	scheme := "http"
	if c.r.TLS != nil {
		scheme = "https"
	}
	to := scheme + "://" + c.r.Host + c.r.URL.Path + "/"
	if c.r.URL.RawQuery != "" {
		to += "?" + c.r.URL.RawQuery
	}
	c.head.Set("Allow", "GET, HEAD, POST")
	c.crossOrigin()
	c.head.Set("Location", to)
	c.write(http.StatusMovedPermanently, "text/html;charset=utf-8",
		[]byte("This resource has permanently moved to "+link(to)+"."))
}

// find sets the resource and the parts of the path behind it.
func (c *call) find() {
	parts := strings.Split(strings.Trim(c.path, "/"), "/")
	if c.res = c.routes[parts[0]]; c.res != nil {
		c.args = parts[1:]
		c.head.Set("Allow", c.res.allow)
	}
}

// answer checks a request and calls the handler of its resource.
func (c *call) answer() error {
	if c.res == nil {
		c.crossOrigin()
		return &netapi.Error{Status: http.StatusNotFound, Message: "The path '" + c.r.URL.Path + "' was not found."}
	}
	if c.crossOrigin() {
		if err := c.fromAllowed(); err != nil {
			return err
		}
		c.write(http.StatusOK, "", nil)
		return nil
	}
	method := c.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if err := c.session(method); err != nil {
		return err
	}
	if c.res.logsIn && method == http.MethodPost && !c.pageMay() {
		c.head.Set("Connection", "close") // the body stays unread
		return errOtherPage
	}
	if err := c.readBody(); err != nil {
		return err
	}
	if err := c.fromAllowed(); err != nil {
		return err
	}
	h := c.res.methods[method]
	if h == nil {
		return &netapi.Error{Status: http.StatusMethodNotAllowed}
	}
	if !c.bind(method) {
		return &netapi.Error{Status: http.StatusNotFound}
	}
	if c.res.raw[method] {
		return h(c, nil)
	}
	var v any
	return c.finish(h(c, &v), v)
}

// remote is the address of the client.
func (c *call) remote() string { return hostOf(c.r) }

// hostOf is the address of a request's client.
func hostOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// part is the first part of a path.
func part(path string) string {
	first, _, _ := strings.Cut(strings.Trim(path, "/"), "/")
	return first
}
