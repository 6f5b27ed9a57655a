package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/cmd/session"
)

// apiOptions are all options of salt-api's servers in Salt's documentation and source, by section.
func apiOptions() map[string][]string {
	return map[string][]string{
		"rest_cherrypy": strings.Fields(`port host disable_ssl ssl_crt ssl_key ssl_chain debug log_access_file log_error_file thread_pool queue_size
			socket_queue_size max_request_body_size expire_responses root_prefix enable_sessions webhook_url webhook_disable_auth collect_stats
			stats_disable_auth static static_path app app_path favicon api_acl authorized_ips`),
		"rest_tornado": strings.Fields(
			`port address backlog num_processes debug ssl_crt ssl_key disable_ssl webhook_disable_auth cors_origin websockets`),
		"rest_wsgi": {"port"},
	}
}

// probe is a request with parts of its expected answer.
type probe struct {
	ask    string // METHOD PATH, then lines of headers
	body   string
	status int
	has    string
}

// apiStart is a salt-api with options, the probes that show their effects, and the options that its log
// refuses.
type apiStart struct {
	name, conf string
	tls        bool
	probes     []probe
	refused    []string // options that the log names
}

// apiStarts try each option, and the behaviour without it. There is no master, so a request that needs one gets
// 503.
func apiStarts() []apiStart {
	const json, hook = "\nContent-Type: application/json", `{"client": "local"}`
	return []apiStart{
		{name: "defaults", conf: "rest_cherrypy: {port: {PORT}, disable_ssl: True}\n", probes: []probe{
			{"GET /", "", 200, "Welcome"}, {"POST /hook" + json, hook, 401, "No permission"},
			{"GET /stats", "", 401, ""}, {"GET /static/a.txt", "", 404, ""}, {"GET /app", "", 200, "<html"},
			{"GET /favicon.ico", "", 405, ""}, {"GET /console/", "", 404, ""}, {"GET /login\nAccept: text/html", "",
				406, ""},
			{"POST /run" + json, strings.Repeat(" ", 4000) + "[]", 200, `{"return": []}`},
		}},
		{name: "plain", conf: "rest_cherrypy: {port: {PORT}, host: 127.0.0.1, disable_ssl: True, debug: True, " +
			"log_access_file: '{DIR}/access', max_request_body_size: 2000, " +
			"root_prefix: /salt, webhook_url: hooks, webhook_disable_auth: True, collect_stats: True, " +
			"stats_disable_auth: True, static: '{DIR}/static', " +
			"static_path: /files, app_path: /ui, favicon: '{DIR}/icon'}\n", probes: []probe{
			{"GET /", "", 404, ""}, {"GET /salt/", "", 200, "Welcome"}, {"POST /salt/hook" + json, hook, 404, ""},
			{"POST /salt/hooks/a" + json, hook, 503, ""}, {"GET /salt/stats", "", 200,
				`"Cheroot HTTPServer 1": {"Enabled": true`}, {"GET /salt/files/a.txt", "", 200, "static"},
			{"GET /salt/ui", "", 200, "<html"}, {"GET /salt/app", "", 404, ""}, {"GET /salt/favicon.ico", "", 200,
				"icon"}, {"POST /salt/run" + json, strings.Repeat(" ", 4000) + "[]", 413, ""},
			{"POST /salt/run" + json, "[1]", 500, "netapi: unexpected error"},
		}},
		{name: "uncounted", conf: "rest_cherrypy: {port: {PORT}, disable_ssl: True, stats_disable_auth: True}\n",
			probes: []probe{
				{"GET /", "", 200, "Welcome"}, {"GET /stats", "", 200, `"Total Requests": 0`},
				{"GET /stats", "", 200, `"Cheroot HTTPServer 1": {"Enabled": false`}}},
		{name: "secure", tls: true, conf: "rest_cherrypy: {port: {PORT}, ssl_crt: '{DIR}/server.crt', ssl_key: " +
			"'{DIR}/server.key', ssl_chain: '{DIR}/server.crt', " +
			"enable_sessions: False, authorized_ips: [192.0.2.1], api_acl: {users: {}}, app: '{DIR}/page.html'}\n",
			probes: []probe{
				{"GET /nosuch\nAccept: text/html", "", 200, "the page"}, {"GET /\nAccept: application/json", "", 403,
					"Bad IP"}, {"GET /login\nAccept: application/json", "", 404, ""}, {"GET /app\nAccept: */*", "", 200,
					"the page"}}},
		{name: "refused", conf: "rest_cherrypy: {port: {PORT}, disable_ssl: True, thread_pool: 5, queue_size: 5, " +
			"socket_queue_size: 5, log_error_file: /x, " +
			"expire_responses: False, nosuch: 1}\n", probes: []probe{{"GET /", "", 200, "Welcome"}},
			refused: []string{"thread_pool", "queue_size", "socket_queue_size", "log_error_file", "expire_responses",
				"nosuch"}},
		{name: "tornado", conf: "rest_tornado: {port: {PORT}, address: 127.0.0.1, disable_ssl: True, " +
			"webhook_disable_auth: True, cors_origin: 'http://ui.example', websockets: True}\n",
			probes: []probe{{"GET /", "", 200, "Welcome"}, {"POST /hook" + json, hook, 503, ""},
				{"OPTIONS /\nOrigin: http://ui.example\nAccess-Control-Request-Headers: X", "", 204, ""},
				{"GET /all_events/" + strings.Repeat("a", 64), "", 503, ""}}},
		{name: "tornado-defaults", conf: "rest_tornado: {port: {PORT}, disable_ssl: True}\n",
			probes: []probe{{"POST /hook" + json, hook, 302, ""}, {"GET /all_events/" + strings.Repeat("a", 64), "",
				404, ""}}},
		{name: "tornado-secure", tls: true, conf: "rest_tornado: {port: {PORT}, ssl_crt: '{DIR}/server.crt', " +
			"ssl_key: '{DIR}/server.key'}\n",
			probes: []probe{{"GET /", "", 200, "Welcome"}}},
		{name: "tornado-onefile", tls: true, conf: "rest_tornado: {port: {PORT}, ssl_crt: '{DIR}/both.pem', " +
			"backlog: 5, num_processes: 4, debug: True, nosuch: 1}\n", probes: []probe{{"GET /", "", 200, "Welcome"}},
			refused: []string{"backlog", "num_processes", "debug", "nosuch"}},
		{name: "wsgi", conf: "rest_wsgi: {port: {PORT}, nosuch: 1}\n", probes: []probe{{"GET /", "", 200, "return"}},
			refused: []string{"nosuch"}},
	}
}

// TestAPIOptions starts salt-api with every option of its servers. Each option either has its effect, or the
// log says that it is not honoured. None is ignored silently.
func TestAPIOptions(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("", "bo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	s := &apiSite{t: t, root: root, master: fmt.Sprintf("root_dir: %s/m\nuser: %s\ninterface: 127.0.0.1\n", root,
		session.RunningUser())}
	s.certificate()
	crt, _ := os.ReadFile(filepath.Join(root, "server.crt"))
	key, _ := os.ReadFile(filepath.Join(root, "server.key"))
	s.write("both.pem", string(crt)+string(key))
	s.write("static/a.txt", "static")
	s.write("icon", "icon")
	s.write("page.html", "the page")
	tried := map[string]bool{}
	for _, start := range apiStarts() {
		section, options, _ := strings.Cut(start.conf, ": {")
		for _, key := range regexp.MustCompile(`(?:^|, )(\w+):`).FindAllStringSubmatch(options, -1) {
			tried[section+" "+key[1]] = true
		}
		t.Run(start.name, func(t *testing.T) {
			inner := *s
			inner.t = t // salt-api ends with the subtest
			inner.tries(t, start)
		})
	}
	for section, keys := range apiOptions() {
		for _, key := range keys {
			if !tried[section+" "+key] {
				t.Errorf("option %s of %s is not tried", key, section)
			}
		}
	}
	access, err := os.ReadFile(filepath.Join(root, "access"))
	if err != nil || !strings.Contains(string(access), `127.0.0.1 - - [`) || !strings.Contains(string(access),
		`"GET /salt/files/a.txt HTTP/1.1" 200 6 `) {
		t.Errorf("log_access_file: %v\n%s", err, access)
	}
}

// tries starts a salt-api and makes its probes.
func (s *apiSite) tries(t *testing.T, start apiStart) {
	t.Helper()
	base := s.serve(start.name, start.conf)
	client := &http.Client{Timeout: casePatience, Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if start.tls {
		base = "https" + strings.TrimPrefix(base, "http")
	}
	for _, p := range start.probes {
		lines := strings.Split(p.ask, "\n")
		method, path, _ := strings.Cut(lines[0], " ")
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(p.body))
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range lines[1:] {
			name, value, _ := strings.Cut(h, ": ")
			req.Header.Set(name, value)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Errorf("%s: %v", lines[0], err)
			continue
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != p.status || !strings.Contains(string(body), p.has) {
			t.Errorf("%s: %v, %d %s, want %d with %q", lines[0], err, res.StatusCode, body, p.status, p.has)
		}
	}
	log, err := os.ReadFile(filepath.Join(s.root, "api-"+start.name+".console"))
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, m := range regexp.MustCompile(`Option '(\w+)' of \w+ is not (?:honoured|known)`).FindAllStringSubmatch(
		string(log), -1) {
		named = append(named, m[1])
	}
	slices.Sort(named)
	want := slices.Sorted(slices.Values(start.refused))
	if !slices.Equal(named, want) {
		t.Errorf("the log names %q, want %q:\n%s", named, want, log)
	}
}
