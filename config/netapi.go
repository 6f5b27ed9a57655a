package config

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// Netapi is what the configuration of a master says to salt-api. Options of the servers have Salt's names, and stand in
// sections of the master's file (salt/netapi/rest_cherrypy/app.py).
type Netapi struct {
	CherryPy *CherryPy // rest_cherrypy; nil: not configured
	Tornado  *Tornado  // rest_tornado; nil: not configured
	WSGI     *WSGI     // rest_wsgi; nil: not configured
	Sections *payload.Map

	NetapiLive

	PIDFile string // api_pidfile
	LogFile string // api_logfile

	Notices []Notice // what is not honoured, for the log
}

// CherryPy is the section rest_cherrypy.
type CherryPy struct {
	Host string
	Port int

	DisableSSL                bool
	SSLCrt, SSLKey, SSLChain  string // files
	Debug                     bool   // answers to unexpected errors tell what it was
	LogAccessFile             string
	LogErrorFile              string
	MaxRequestBodySize        int64 // bytes
	RootPrefix                string
	EnableSessions            bool
	WebhookURL                string
	WebhookDisableAuth        bool
	CollectStats              bool
	StatsDisableAuth          bool
	Static, StaticPath        string
	App                       string // file; "": the page that is built in
	AppPath                   string
	Favicon                   string
	APIACL                    *payload.Map // nil: not set
	AuthorizedIPs             []string
	CORSOrigin                []string // brine's own: origins of other pages that may use the server, "*": all
	Console                   bool     // brine's own: the pages below /console
	SessionsMax, SessionsEach int      // brine's own: how many sessions are kept, in all and of one user
	Front
}

// Limits of salt-api that Salt does not have, or does not keep.
const (
	maxBody      = 16 << 20
	sessionsMax  = 20000
	sessionsEach = 1000
)

// NetapiOptions reads what concerns salt-api. An error names the option and its value.
func (m *Master) NetapiOptions() (*Netapi, error) {
	own := m.NetapiOwn()
	n := &Netapi{Sections: payload.NewMap(3), NetapiLive: m.netapiLive(), PIDFile: own.Str("api_pidfile"),
		LogFile: own.Str("api_logfile")}
	for _, name := range []string{"rest_cherrypy", "rest_tornado", "rest_wsgi"} {
		if sec, ok := m.Raw.Value(name).(*payload.Map); ok && sec.Len() > 0 {
			n.Sections.Set(name, sec)
		}
	}
	if sec, ok := n.configured("rest_cherrypy"); ok {
		c, err := n.readCherryPy(sec)
		if err != nil {
			return nil, err
		}
		n.CherryPy = c
	}
	return n, n.readOthers(m.Raw.Str("hash_type"))
}

// underRoot is a path of the configuration below root_dir; an address of a log stays as it is.
func (m *Master) underRoot(key, std string) string {
	path := m.Raw.Str(key)
	if path == "" {
		path = std
	}
	root, err := filepath.Abs(m.RootDir)
	if err != nil || isURI(path) {
		return path
	}
	return below(root, path)
}

func (n *Netapi) notice(level slog.Level, format string, args ...any) {
	n.Notices = append(n.Notices, Notice{level, fmt.Sprintf(format, args...)})
}

// section reads the options of a server, and remembers which it has read.
type section struct {
	name  string
	m     *payload.Map
	known map[string]bool
	err   error
}

func (s *section) get(key string) (any, bool) {
	s.known[key] = true
	v, ok := s.m.Get(key)
	return v, ok && v != nil
}

func (s *section) bad(key, want string) {
	if s.err == nil {
		s.err = &Error{Key: s.name + ":" + key, Value: s.m.Value(key), Code: ExitGeneric,
			Err: fmt.Errorf("option '%s' of %s is %s: it has to be %s", key, s.name,
				payload.Show(python.Str(s.m.Value(key))), want)}
	}
}

func (s *section) text(key, std string) string {
	v, ok := s.get(key)
	if !ok {
		return std
	}
	text, is := v.(string)
	if !is {
		s.bad(key, "a text")
	}
	return text
}

func (s *section) truth(key string, std bool) bool {
	v, ok := s.get(key)
	if !ok {
		return std
	}
	return python.Truth(v)
}

func (s *section) number(key string, std, least, most int) int {
	v, ok := s.get(key)
	if !ok {
		return std
	}
	n, is := python.Number(v)
	if text, isText := v.(string); isText {
		var whole int
		if _, err := fmt.Sscanf(text, "%d", &whole); err == nil {
			n, is = float64(whole), true
		}
	}
	if !is || n < float64(least) || n > float64(most) {
		s.bad(key, fmt.Sprintf("a number from %d to %d", least, most))
		return std
	}
	return int(n)
}

func (s *section) texts(key string) []string {
	v, ok := s.get(key)
	if !ok {
		return nil
	}
	if one, is := v.(string); is {
		return []string{one}
	}
	list, is := v.([]any)
	if !is {
		s.bad(key, "a list of texts")
	}
	return payload.Texts(list)
}

func (n *Netapi) readCherryPy(m *payload.Map) (*CherryPy, error) {
	s := &section{name: "rest_cherrypy", m: m, known: map[string]bool{}}
	c := &CherryPy{
		Host: s.text("host", "0.0.0.0"), Port: s.number("port", 0, 0, 65535),
		DisableSSL: s.truth("disable_ssl", false), SSLCrt: s.text("ssl_crt", ""), SSLKey: s.text("ssl_key", ""),
		SSLChain: s.text("ssl_chain", ""), Debug: s.truth("debug", false), LogAccessFile: s.text("log_access_file", ""),
		LogErrorFile: s.text("log_error_file", ""), MaxRequestBodySize: int64(s.number("max_request_body_size", maxBody,
			1, 1<<30)), RootPrefix: s.text("root_prefix", "/"), EnableSessions: s.truth("enable_sessions", true),
		WebhookURL:         "/" + strings.Trim(s.text("webhook_url", "/hook"), "/"),
		WebhookDisableAuth: s.truth("webhook_disable_auth", false), CollectStats: s.truth("collect_stats", false),
		StatsDisableAuth: s.truth("stats_disable_auth", false), Static: s.text("static", ""),
		StaticPath: "/" + strings.Trim(s.text("static_path", "/static"), "/"), App: s.text("app", ""),
		AppPath: "/" + strings.Trim(s.text("app_path", "/app"), "/"), Favicon: s.text("favicon", ""),
		AuthorizedIPs: s.texts("authorized_ips"), CORSOrigin: s.texts("cors_origin"), Console: s.truth("console",
			false), Front: s.front(), SessionsMax: s.number("sessions_max", sessionsMax, 1, 1<<20),
		SessionsEach: s.number("sessions_per_user", sessionsEach, 1, 1<<20),
	}
	if v, ok := s.get("api_acl"); ok && python.Truth(v) {
		acl, is := v.(*payload.Map)
		if !is {
			s.bad("api_acl", "a mapping")
		}
		c.APIACL = acl
	}
	if n.checkTLS(s, c); s.err != nil {
		return nil, s.err
	}
	for _, opt := range []struct{ key, why string }{
		{"thread_pool", "requests and streams need no threads of their own; connections are limited"},
		{"queue_size", "the kernel's backlog is used"}, {"socket_queue_size", "Salt does not read it either"},
		{"log_error_file", "errors go to the log of salt-api"},
		{"expire_responses", "a command ends with its client, or with rest_timeout"},
	} {
		if _, given := s.get(opt.key); given {
			n.notice(slog.LevelWarn, "Option '%s' of rest_cherrypy is not honoured: %s", opt.key, opt.why)
		}
	}
	n.unknown(s)
	if strings.Count(c.WebhookURL, "/") > 1 {
		n.notice(slog.LevelWarn, "Option 'webhook_url' of rest_cherrypy is %s: with more than one part it cannot be "+
			"reached in Salt", c.WebhookURL)
	}
	return c, nil
}

// checkTLS says what keeps the server from starting with TLS.
func (n *Netapi) checkTLS(s *section, c *CherryPy) {
	switch {
	case c.DisableSSL:
	case c.SSLCrt == "" || c.SSLKey == "":
		s.err = &Error{Key: "rest_cherrypy", Code: ExitGeneric,
			Err: fmt.Errorf("Not starting 'rest_cherrypy'. Options 'ssl_crt' and 'ssl_key' are required if SSL is " +
				"not disabled.")}
	}
}
