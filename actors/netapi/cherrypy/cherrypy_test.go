package cherrypy_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/config"
	"brine/modules/netapi"
	"brine/wire/payload"
)

// TestAddresses requests all addresses with and without a session.
func TestAddresses(t *testing.T) {
	s := open(t, nil)
	id := "X-Auth-Token: " + s.login()
	const welcome = `{"return":"Welcome","clients":["local","local_async","local_batch","local_subset","runner","runner_async","ssh","wheel","wheel_async"]}`
	ping := `{"client":"local","tgt":"*","fun":"test.ping","arg":"x"}`
	for _, tt := range []struct {
		method, path, body string
		session            bool
		status             int
		want               string
	}{
		{"GET", "/", "", false, 200, welcome},
		{"HEAD", "/", "", false, 200, ""},
		{"GET", "/run", "", false, 200, welcome},
		{"GET", "/token/", "", false, 200, welcome},
		{"GET", "/?x=1", "", false, 404, "Nothing matches the given URI"},
		{"GET", "/nope", "", false, 404, "The path &#39;/nope&#39; was not found."},
		{"GET", "/login", "", false, 200, `{"status":null,"return":"Please log in"}`},
		{"GET", "/login/x", "", false, 404, "Nothing matches the given URI"},
		{"DELETE", "/login", "", false, 405, "Specified method is invalid for this resource"},
		{"PUT", "/", "[]", false, 405, ""},
		{"GET", "/logout", "", true, 405, ""},
		{"POST", "/login", "", false, 500, `{"status":500,"return":"An unexpected error occurred"}`},
		{"POST", "/login", `{"username":"ann","password":"no","eauth":"pam"}`, false, 401,
			"Could not authenticate using provided credentials"},
		{"POST", "/", ping, false, 401, "No permission -- see authorization schemes"},
		{"POST", "/", ping, true, 200, `{"return":[{"m1":["x"]}]}`},
		{"POST", "/", "[" + ping + "," + ping + "]", true, 200, `{"return":[{"m1":["x"]},{"m1":["x"]}]}`},
		{"POST", "/", "[]", true, 200, `{"return":[]}`},
		{"POST", "/", "{}", true, 400, "Lowstates must be a list"},
		{"POST", "/", "{bad", true, 400, "Invalid JSON document"},
		{"POST", "/", `["x"]`, true, 500, `{"status":500,"return":"An unexpected error occurred"}`},
		{"POST", "/", `{"client":"nosuch"}`, true, 400, "Invalid client specified: &#39;nosuch&#39;"},
		{"POST", "/", `{"client":"ssh"}`, true, 400, "Client disabled: &#39;ssh&#39;. Add to " +
			"&#39;netapi_enable_clients&#39; master config option to enable."},
		{"POST", "/", `{"client":"runner","fun":"no.such"}`, true, 500, ""},
		{"POST", "/", `{"client":"runner"}`, true, 400, "runner takes at least 1 argument (0 given)"},
		{"POST", "/", `{"client":"runner","fun":"a.b","arg":["p","k=1"],"kwarg":{"l":2},"m":3}`, true, 200,
			`{"return":[{"arg":["p"],"kwarg":{"k":1,"l":2,"m":3}}]}`},
		{"POST", "/run", ping, false, 401, "No authentication credentials given"},
		{"POST", "/run", strings.Replace(ping, "{", `{"token":"zz",`, 1), false, 401, "Invalid token"},
		{"POST", "/run", strings.Replace(ping, "{", `{"token":"`+known+`",`, 1), false, 200,
			`{"return":[{"m1":["x"]}]}`},
		{"GET", "/keys", "", true, 200, `{"return":{"minions":["m1"],"pub":"PUB","priv":"PRIV"}}`},
		{"GET", "/keys", "", false, 401, "No authentication credentials given"},
		{"GET", "/minions/a/b", "", true, 404, ""},
		{"POST", "/minions/a", ping, true, 404, ""},
		{"GET", "/minions/m1?x=1", "", true, 404, ""},
		{"GET", "/hook", "", true, 405, ""},
		{"POST", "/hook/a/b", `{"a":1}`, false, 401, ""},
		{"POST", "/hook/a/b", `{"a":1}`, true, 200, `{"success":true}`},
		{"GET", "/events?token=" + known, "", true, 400, "takes no query parameters"},
		{"GET", "/events", "", false, 401, ""},
		{"GET", "/ws", "", false, 401, ""},
		{"GET", "/stats", "", false, 401, ""},
		{"GET", "/app/any/thing", "", false, 200, "salt-api"},
		{"GET", "/favicon.ico", "", false, 405, ""},
		{"OPTIONS", "/minions", "", false, 200, ""},
	} {
		var h []string
		if tt.session {
			h = append(h, id)
		}
		s.expect(tt.method+" "+tt.path+" "+tt.body, s.ask(tt.method, tt.path, tt.body, h...), tt.status, tt.want)
	}
}

// TestSession: an id in the header counts before one in the cookie. A log-out ends the id. No other client sees
// it.
func TestSession(t *testing.T) {
	s := open(t, nil)
	id := s.login()
	if !netapi.SessionID(id) {
		t.Fatalf("id %q", id)
	}
	for _, tt := range []struct {
		header []string
		status int
	}{
		{[]string{"X-Auth-Token: " + id}, 200}, {[]string{"Cookie: session_id=" + id}, 200},
		{[]string{"X-Auth-Token: deadbeef", "Cookie: session_id=" + id}, 401}, {[]string{"X-Auth-Token: " + known},
			401}, {[]string{"X-Auth-Token: " + strings.ToUpper(id)}, 401}, {[]string{"X-Auth-Token: " + id + "0"}, 401},
		{[]string{"X-Auth-Token: " + strings.Repeat("0", 40)}, 401},
		{[]string{"Cookie: session_id=" + strings.Repeat("f", 4000)}, 401},
	} {
		s.expect(tt.header[0], s.ask("POST", "/", "[]", tt.header...), tt.status, "")
	}
	a := s.ask("POST", "/hook", `{}`, "X-Auth-Token: "+id)
	if c := a.Header.Get("Set-Cookie"); !strings.Contains(c, id) || !strings.Contains(c, "HttpOnly") ||
		!strings.Contains(c, "SameSite=Lax") {
		t.Errorf("cookie %q", c)
	}
	v, _ := s.master.events.Load("salt/netapi/hook")
	if data, _ := v.(*payload.Map); data == nil || strings.Contains(data.Map("headers").Str("X-Auth-Token"), id) {
		t.Errorf("the event shows the session: %v", v)
	}
	again := s.ask("POST", "/login", creds, "X-Auth-Token: "+id)
	if again.Header.Get("X-Auth-Token") == id {
		t.Error("a second log-in kept the id")
	}
	s.expect("the id before", s.ask("POST", "/", "[]", "X-Auth-Token: "+id), 401, "")
	id = again.Header.Get("X-Auth-Token")
	if c := cookieOf(t, again); c.MaxAge != 36000 || c.Value != id || c.Path != "/" ||
		time.Until(c.Expires) < 9*time.Hour || time.Until(c.Expires) > 10*time.Hour {
		t.Errorf("cookie of a session: %v", c)
	}
	out := s.ask("POST", "/logout", "", "X-Auth-Token: "+id)
	s.expect("log-out", out, 200, `{"return":"Your token has been cleared"}`)
	if c := cookieOf(t, out); c.MaxAge != 0 || c.Value == id || !netapi.SessionID(c.Value) ||
		!c.Expires.Before(time.Now()) {
		t.Errorf("cookie of a session that has ended: %v", c)
	}
	s.expect("after", s.ask("POST", "/", "[]", "X-Auth-Token: "+id), 401, "")
}

// cookieOf returns the only cookie that an answer sets.
func cookieOf(t *testing.T, a answer) *http.Cookie {
	t.Helper()
	c, err := http.ParseSetCookie(a.Header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOptions: every option of the section takes effect.
func TestOptions(t *testing.T) {
	dir := t.TempDir()
	page, secret := filepath.Join(dir, "page.html"), filepath.Join(dir, "secret")
	static := filepath.Join(dir, "static")
	for path, text := range map[string]string{page: "<p>page</p>", secret: "secret",
		filepath.Join(static, "a.js"): "js", filepath.Join(static, "d/x.txt"): "x"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(static, "link")); err != nil {
		t.Fatal(err)
	}
	t.Run("app", func(t *testing.T) {
		s := open(t, payload.M("app", page, "static", static, "static_path", "/files"))
		s.expect("HTML", s.ask("POST", "/login", creds), 200, "<p>page</p>")
		s.expect("any path", s.ask("GET", "/no/such", "", "Accept: text/html,*/*;q=0.8"), 200, "<p>page</p>")
		s.expect("JSON", s.ask("GET", "/login", "", "Accept: */*"), 200, "Please log in")
		s.expect("file", s.ask("GET", "/files/a.js", ""), 200, "js")
		for _, path := range []string{"/files/nosuch", "/files/", "/files/d", "/files/link", "/files/d/../nosuch"} {
			s.expect(path, s.ask("GET", path, "", "Accept: text/plain"), 404, "")
		}
		for _, path := range []string{"/files/../page.html", "/files/%2e%2e/secret", "/files/..%2fsecret",
			"/files/d/../../secret"} {
			s.expect(path, s.ask("GET", path, "", "Accept: text/plain"), 403, "authorization will not help")
		}
	})
	t.Run("prefix and sessions", func(t *testing.T) {
		s := open(t, payload.M("root_prefix", "/salt", "enable_sessions", false, "cors_origin",
			[]any{"https://ui.example"}))
		if a := s.ask("GET", "/salt", ""); a.StatusCode != 301 || a.Header.Get("Location") != "http://"+s.addr+
			"/salt/" {
			t.Errorf("%d %s", a.StatusCode, a.Header.Get("Location"))
		}
		if a := s.ask("GET", "/salt?a=1", ""); a.StatusCode != 301 || a.Header.Get("Location") != "http://"+s.addr+
			"/salt/?a=1" {
			t.Errorf("%d %s", a.StatusCode, a.Header.Get("Location"))
		}
		s.expect("a body without the slash", s.ask("POST", "/salt", "[]"), 401, "")
		s.expect("outside", s.ask("GET", "/", ""), 404, "")
		s.expect("beside", s.ask("GET", "/saltier", ""), 404, "")
		for _, path := range []string{"login", "logout", "minions", "jobs"} {
			s.expect(path, s.ask("GET", "/salt/"+path, ""), 404, "was not found")
		}
		for origin, want := range map[string]string{"https://ui.example": "https://ui.example",
			"https://evil.example": ""} {
			a := s.ask("OPTIONS", "/salt/run", "", "Origin: "+origin, "Access-Control-Request-Method: POST")
			if got := a.Header.Get("Access-Control-Allow-Origin"); got != want ||
				(want == "") != (a.Header.Get("Access-Control-Allow-Methods") == "") {
				t.Errorf("%s: allowed %q, headers %v", origin, got, a.Header)
			}
		}
	})
	t.Run("addresses", func(t *testing.T) {
		s := open(t, payload.M("authorized_ips", []any{"192.0.2.1"}))
		s.expect("welcome", s.ask("GET", "/", ""), 403, "Bad IP")
		s.expect("log-in", s.ask("POST", "/login", creds), 403, "Bad IP")
		s.expect("no session", s.ask("GET", "/minions", ""), 401, "")
		s.expect("app", s.ask("GET", "/app", ""), 200, "")
		for path, status := range map[string]int{"/": 403, "/run": 403, "/login": 403, "/minions": 403, "/hook": 403,
			"/app": 200} {
			s.expect("OPTIONS "+path, s.ask("OPTIONS", path, ""), status, "")
		}
	})
	t.Run("collect_stats", func(t *testing.T) {
		counted := func(s *site) bool {
			return strings.Contains(s.ask("GET", "/stats", "").body, `"Total Bytes Read": 5`)
		}
		on := open(t, payload.M("collect_stats", true, "stats_disable_auth", true))
		on.ask("POST", "/run", `"abc"`)
		until(t, "the request is counted", func() bool { return counted(on) })
		off := open(t, payload.M("stats_disable_auth", true))
		off.ask("POST", "/run", `"abc"`)
		off.expect("nothing is counted", off.ask("GET", "/stats", ""), 200, `"Total Requests": 0`)
	})
	t.Run("api_acl", func(t *testing.T) {
		s := open(t, payload.M("api_acl", payload.M("users", payload.M("ann", []any{"192.0.2.1"}, "*",
			[]any{"127.0.0.1"}))))
		s.expect("named", s.ask("POST", "/login", creds), 401, "No permission")
		s.expect("others", s.ask("POST", "/login", strings.Replace(creds, "ann", "bob", 1)), 200, "")
	})
}

// TestReload: options that may change take effect for the next request. The section of a server stays as at the
// start.
func TestReload(t *testing.T) {
	s := open(t, payload.M("root_prefix", "/salt"))
	ask := func(status int, client, target string) {
		t.Helper()
		s.expect(client, s.ask("POST", "/salt/run", `{"client":"`+client+`","tgt":"`+target+
			`","tgt_type":"nodegroup","fun":"test.ping","username":"ann","password":"sekrit","eauth":"pam"}`), status,
			"")
	}
	ask(400, "local_batch", "web")
	ask(400, "local", "web")
	fresh := payload.M("rest_cherrypy", payload.M("port", int64(0), "disable_ssl", true, "root_prefix", "/other"),
		"netapi_enable_clients", []any{"local", "local_batch"})
	conf, err := (&config.Master{Common: config.Common{Raw: fresh}}).NetapiOptions()
	if err != nil {
		t.Fatal(err)
	}
	s.srv.Reload(conf, payload.M("web", "m1"))
	ask(200, "local", "web")
	ask(400, "local", "db")
	got := s.ask("POST", "/salt/run",
		`{"client":"local","tgt":"db","tgt_type":"nodegroup","fun":"test.ping","username":"ann","password":"sekrit","eauth":"pam"}`)
	if !strings.Contains(got.body, "Node group db unavailable") || strings.Contains(got.body, "unavailable in") {
		t.Errorf("an unknown node group: %s", got.body) // the answer does not contain the path of the configuration
	}
	ask(200, "local_batch", "web")
	ask(400, "runner", "web")
	s.expect("the new prefix", s.ask("GET", "/other/", ""), 404, "")
}

// TestAccept: the type of an answer is one that the client accepts. The check takes place after the work.
func TestAccept(t *testing.T) {
	s := open(t, nil)
	for accept, want := range map[string]string{"": "application/json", "*/*": "application/json",
		"application/*": "application/json", "application/x-yaml": "application/x-yaml",
		"application/json;q=0.1, application/x-yaml;q=0.9": "application/x-yaml", "text/html": ""} {
		a := s.ask("GET", "/", "", "Accept: "+accept)
		if got := a.Header.Get("Content-Type"); want != "" && got != want || want == "" &&
			a.StatusCode != http.StatusNotAcceptable {
			t.Errorf("%q: %d %s", accept, a.StatusCode, got)
		}
	}
}
