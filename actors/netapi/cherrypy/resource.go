package cherrypy

import (
	"net/http"
	"strings"
)

// handler answers a method of a resource. It puts the value of the answer into into, or writes the answer
// itself (raw).
type handler func(c *call, into *any) error

// resource describes an address.
type resource struct {
	methods  map[string]handler
	allow    string          // value of the Allow header
	sessions map[string]bool // methods without a session; others have one
	auth     map[string]bool // methods that need a session; "*": all
	params   []string        // names of GET parameters, in the order of the path
	anyArgs  bool            // the handler reads further parts of the path
	anyQuery bool            // the handler reads any query
	logsIn   bool            // the body may contain a password
	free     bool            // pages: no body is read, and no address is checked
	raw      map[string]bool // methods whose handlers write the answer themselves
}

func (r *resource) needsSession(method string) bool { return r.auth["*"] || r.auth[method] }

func (r *resource) hasSession(method string) bool { return !r.sessions["*"] && !r.sessions[method] }

var (
	all  = map[string]bool{"*": true}
	gets = map[string]bool{http.MethodGet: true}
)

// resources returns the addresses for this configuration.
func (s *server) resources() map[string]*resource {
	const both = "GET, HEAD, POST"
	m := map[string]*resource{
		"": {methods: map[string]handler{"GET": welcome, "POST": (*call).postRoot}, allow: both, sessions: gets,
			auth: map[string]bool{http.MethodPost: true}},
		"run": {methods: map[string]handler{"GET": welcome, "POST": (*call).postRun}, allow: both,
			sessions: all, logsIn: true},
		"favicon.ico": {methods: map[string]handler{}, sessions: all},
	}
	s.addCommands(m)
	s.addPages(m)
	return m
}

// addCommands adds the addresses that run commands.
func (s *server) addCommands(m map[string]*resource) {
	const both = "GET, HEAD, POST"
	post := map[string]bool{http.MethodPost: true}
	m["token"] = &resource{methods: map[string]handler{"GET": welcome, "POST": (*call).postToken}, allow: both,
		sessions: all, logsIn: true}
	m["keys"] = &resource{methods: map[string]handler{"GET": (*call).getKeys, "POST": (*call).postKeys}, allow: both,
		sessions: post, params: []string{"mid"}, raw: post, logsIn: true}
	hook := &resource{methods: map[string]handler{"POST": (*call).postHook}, allow: "POST", auth: all, anyArgs: true}
	if s.conf.WebhookDisableAuth {
		hook.auth = nil
	}
	if url := strings.Trim(s.conf.WebhookURL, "/"); !strings.Contains(url, "/") {
		// as in Salt, where a URL with more parts cannot be reached
		m[url] = hook
	}
	if !s.conf.EnableSessions {
		return
	}
	m["login"] = &resource{methods: map[string]handler{"GET": (*call).getLogin, "POST": (*call).postLogin}, allow: both,
		logsIn: true}
	m["logout"] = &resource{methods: map[string]handler{"POST": (*call).postLogout}, allow: both, auth: post}
	m["minions"] = &resource{methods: map[string]handler{"GET": (*call).getMinions, "POST": (*call).postMinions},
		allow: both, auth: all,
		params: []string{"mid"}}
	m["jobs"] = &resource{methods: map[string]handler{"GET": (*call).getJobs, "POST": (*call).postRoot}, allow: both,
		auth:   all,
		params: []string{"jid", "timeout"}}
}

// addPages adds streams, statistics and the page of the app.
func (s *server) addPages(m map[string]*resource) {
	const look = "GET, HEAD"
	stats := &resource{methods: map[string]handler{"GET": (*call).getStats}, allow: look, auth: all}
	if s.conf.StatsDisableAuth {
		stats.auth = nil
	}
	m["stats"] = stats
	m[part(s.conf.AppPath)] = &resource{methods: map[string]handler{"GET": (*call).getApp}, allow: look, sessions: all,
		free: true, raw: gets,
		anyArgs: true}
	m["events"] = &resource{methods: map[string]handler{"GET": (*call).getEvents}, allow: look, anyQuery: true,
		raw: gets}
	m["ws"] = &resource{methods: map[string]handler{"GET": (*call).getSocket}, allow: look, params: []string{"token"},
		anyQuery: true, raw: gets}
}

// bind tells whether the method accepts the rest of the path and the query.
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

// param is the value of a GET parameter, by its place in the path or by its name in the query.
func (c *call) param(i int) string {
	if i < len(c.args) {
		return c.args[i]
	}
	return c.r.URL.Query().Get(c.res.params[i])
}
