package cherrypy

import (
	"net/http"
	"strings"
)

// handler answers a method of a resource: it puts the value of the answer into into, or writes the answer itself (raw).
type handler func(c *call, into *any) error

// resource is what an address means.
type resource struct {
	methods  map[string]handler
	allow    string          // of the header
	sessions map[string]bool // methods without a session; others have one
	auth     map[string]bool // methods that need a session; "*": all
	params   []string        // of GET, by place and by name
	anyArgs  bool            // further parts of the path are for the handler
	anyQuery bool            // any query is for the handler
	free     bool            // no body is read, no address is checked: pages
	raw      bool            // handlers write the answer themselves
}

func (r *resource) needsSession(method string) bool { return r.auth["*"] || r.auth[method] }

func (r *resource) hasSession(method string) bool { return !r.sessions["*"] && !r.sessions[method] }

var (
	all  = map[string]bool{"*": true}
	gets = map[string]bool{http.MethodGet: true}
)

// resources are the addresses that the configuration gives.
func (s *server) resources() map[string]*resource {
	const both = "GET, HEAD, POST"
	m := map[string]*resource{
		"": {methods: map[string]handler{"GET": welcome, "POST": (*call).postRoot}, allow: both, sessions: gets,
			auth: map[string]bool{http.MethodPost: true}},
		"run":         {methods: map[string]handler{"GET": welcome, "POST": (*call).postRun}, allow: both, sessions: all},
		"favicon.ico": {methods: map[string]handler{}, sessions: all},
	}
	if s.conf.EnableSessions {
		m["login"] = &resource{methods: map[string]handler{"GET": (*call).getLogin, "POST": (*call).postLogin}, allow: both}
	}
	return m
}

// bind says whether what stands behind the resource, in path and query, is what its method takes.
func (c *call) bind(method string) bool {
	args := c.args
	for len(args) > 0 && args[len(args)-1] == "" {
		args = args[:len(args)-1]
	}
	c.args = args
	if c.res.anyArgs {
		return true
	}
	if method != http.MethodGet {
		return len(args) == 0
	}
	if len(args) > len(c.res.params) {
		return false
	}
	if c.res.anyQuery {
		return true
	}
	for name := range c.r.URL.Query() {
		if !strings.Contains(" "+strings.Join(c.res.params[len(args):], " ")+" ", " "+name+" ") {
			return false
		}
	}
	return true
}

// param is the value of a parameter of a GET, by its place in the path or by its name in the query.
func (c *call) param(i int) string {
	if i < len(c.args) {
		return c.args[i]
	}
	return c.r.URL.Query().Get(c.res.params[i])
}
