package cherrypy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
)

// until waits for a condition.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); !done(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("not in time: " + what)
		}
	}
}

// calls is the number of running requests.
func (s *site) calls() int {
	c, err := s.srv.Supervisor().Look("Calls")
	if err != nil {
		s.t.Fatal(err)
	}
	return len(c.Children)
}

const sleep = `{"client":"local","tgt":"*","fun":"test.sleep","username":"ann","password":"sekrit","eauth":"pam"}`

// TestClientGoes: the work for a client that goes away ends, and leaves nothing behind.
func TestClientGoes(t *testing.T) {
	s := open(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", "http://"+s.addr+"/run", strings.NewReader(sleep))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	ended := make(chan error, 1)
	go func() {
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			err = resp.Body.Close()
		}
		ended <- err
	}()
	jid := <-s.master.asked
	until(t, "the call shows its job", func() bool {
		c, err := s.srv.Supervisor().Look("Calls")
		return err == nil && len(c.Children) == 1 && strings.Contains(fmt.Sprint(c.Children), jid)
	})
	cancel()
	<-ended
	until(t, "the call has gone", func() bool { return s.calls() == 0 })
}

// TestOperatorEnds: an operator who restarts a call ends it. Its client gets an error.
func TestOperatorEnds(t *testing.T) {
	s := open(t, nil)
	got := make(chan answer, 1)
	go func() { got <- s.ask("POST", "/run", sleep) }()
	<-s.master.asked
	if err := s.srv.Supervisor().Restart("Calls/Call-1"); err != nil {
		t.Fatal(err)
	}
	s.expect("the answer", <-got, 500, `{"status":500,"return":"An unexpected error occurred"}`)
	until(t, "the call has gone", func() bool { return s.calls() == 0 })
}

// TestMasterGone: a request is refused at once if the master has stopped.
func TestMasterGone(t *testing.T) {
	s := open(t, nil)
	id := s.login()
	s.master.gone.Store(true)
	for _, tt := range [][2]string{{"/", `{"client":"local","tgt":"*","fun":"test.ping"}`}, {"/login", creds},
		{"/hook", `{}`}} {
		s.expect(tt[0], s.ask("POST", tt[0], tt[1], "X-Auth-Token: "+id), 503, "Salt Master is not available.")
	}
	for _, path := range []string{"/minions", "/jobs", "/keys", "/events", "/ws/" + id} {
		s.expect(path, s.ask("GET", path, "", "X-Auth-Token: "+id), 503, "Salt Master is not available.")
	}
	if n := s.master.vain.Load(); n > 0 {
		t.Errorf("a master that is gone was asked %d times", n)
	}
}

// TestBodies: a body that is too large, too deep or that multiplies itself is refused, and does not affect
// other clients.
func TestBodies(t *testing.T) {
	s := open(t, payload.M("max_request_body_size", int64(2<<20)))
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'm'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 10), ","))
	}
	deep := strings.Repeat("[", 100000)
	for _, tt := range []struct {
		name, kind, body string
		status           int
	}{
		{"large", "application/json", strings.Repeat(" ", 2<<20+1), 413},
		{"deep", "application/json", deep, 400},
		{"deep and whole", "application/json", deep + strings.Repeat("]", 100000), 400},
		{"bomb", "application/x-yaml", bomb, 400},
		{"bytes", "application/json", "\"\xff\"", 400},
		{"digits", "application/json", strings.Repeat("9", 100000), 400},
		{"text", "text/plain", strings.Repeat("x", 1<<20), 400},
		{"type", "application/xml", "<x/>", 406},
		{"form", "application/x-www-form-urlencoded", strings.Repeat("a=b&", 100000), 400},
	} {
		s.expect(tt.name, s.ask("POST", "/run", tt.body, "Content-Type: "+tt.kind), tt.status, "")
	}
	hex := strings.Repeat("f", 1<<20)
	s.expect("token", s.ask("POST", "/run", `{"client":"local","tgt":"*","fun":"f","token":"`+hex+`"}`), 401,
		"Invalid token")
	s.expect("still there", s.ask("GET", "/", ""), 200, "Welcome")
}

// TestHeaders: endless headers are refused.
func TestHeaders(t *testing.T) {
	s := open(t, nil)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() { // until the server refuses more
		_, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n")
		for err == nil {
			_, err = io.WriteString(c, "X-A: "+strings.Repeat("a", 1000)+"\r\n")
		}
	}()
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && !strings.Contains(line, "431") {
		t.Errorf("got %q", line)
	}
}

// TestConnections: one address gets at most half of the connections, and another address finds a place beside
// it. A place that becomes free can be used again.
func TestConnections(t *testing.T) {
	s := open(t, nil)
	var held []net.Conn
	for range 100 { // of 200
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	one, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(one, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // the connection may be closed already
	if _, err := one.Read(make([]byte, 1)); err == nil {
		t.Error("a connection beyond the limit was served")
	}
	s.source = "127.0.0.7"
	s.expect("another address", s.ask("POST", "/login", creds), 200, "")
	s.source = ""
	for _, c := range append(held, one) {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	until(t, "there is room", func() bool {
		resp, err := http.Get("http://" + s.addr + "/")
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
}

// TestBehindProxy: clients behind a trusted proxy count separately. No other client can pretend another
// address.
func TestBehindProxy(t *testing.T) {
	s := open(t, payload.M("trusted_proxies", []any{"127.0.0.5"}, "authorized_ips", []any{"203.0.113.9", "203.0.113.10",
		"127.0.0.1"}))
	s.source = "127.0.0.5"
	const evil, good = "X-Forwarded-For: 203.0.113.10, 203.0.113.9", "X-Forwarded-For: 203.0.113.9, 203.0.113.10"
	wrong := strings.Replace(creds, "sekrit", "no", 1)
	for range 120 {
		s.expect("a guess", s.ask("POST", "/login", wrong, evil), 401, "")
	}
	if n := s.master.failed.Load(); n != 10 {
		t.Errorf("the master was asked %d times", n)
	}
	s.expect("the guesser", s.ask("POST", "/login", creds, evil), 401, "")
	s.expect("another behind the proxy", s.ask("POST", "/login", creds, good), 200, "")
	s.expect("one who may not", s.ask("GET", "/login", "", "X-Forwarded-For: 203.0.113.11"), 403, "Bad IP")
	s.source = "127.0.0.6"
	s.expect("a liar", s.ask("GET", "/login", "", good), 403, "Bad IP")
}

// TestSessionsBounded: endless log-ins keep a limited number of sessions. The last ones stay valid.
func TestSessionsBounded(t *testing.T) {
	s := open(t, payload.M("sessions_per_user", int64(3)))
	first := s.login()
	var last string
	for range 4 {
		last = s.login()
	}
	s.expect("the first", s.ask("POST", "/", "[]", "X-Auth-Token: "+first), 401, "")
	s.expect("the last", s.ask("POST", "/", "[]", "X-Auth-Token: "+last), 200, "")
}

// TestSlowBody: a body that does not arrive ends its request.
func TestSlowBody(t *testing.T) {
	s := openWithin(t, time.Second, nil)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST /run HTTP/1.1\r\nHost: x\r\nContent-Type: "+
		"application/json\r\nContent-Length: 10\r\n\r\n["); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(line, "408") {
		t.Errorf("got %q, %v", line, err)
	}
}

// TestLogoutRevokes: a log-out revokes the eauth token of its session, and no other.
func TestLogoutRevokes(t *testing.T) {
	s := open(t, nil)
	id := s.login()
	s.expect("without a session", s.ask("POST", "/logout", ""), 401, "")
	s.expect("with another", s.ask("POST", "/logout", "", "X-Auth-Token: "+strings.Repeat("0", 40)), 401, "")
	if len(s.revoked) != 0 {
		t.Fatal("somebody else has revoked a token")
	}
	s.expect("the owner", s.ask("POST", "/logout", "", "X-Auth-Token: "+id), 200,
		`{"return":"Your token has been cleared"}`)
	if len(s.revoked) != 1 || <-s.revoked != known {
		t.Error("the token is not revoked")
	}
}

// TestLoginAgain: after a second log-in the earlier session cannot be used any more. A failed log-in ends no
// session.
func TestLoginAgain(t *testing.T) {
	s := open(t, nil)
	id := "X-Auth-Token: " + s.login()
	s.expect("a wrong password", s.ask("POST", "/login", strings.Replace(creds, "sekrit", "wrong", 1), id), 401, "")
	s.expect("the session after it", s.ask("POST", "/", "[]", id), 200, "")
	if len(s.revoked) != 0 {
		t.Fatal("a log-in that failed has revoked a token")
	}
	for _, planted := range []string{"X-Auth-Token: " + strings.Repeat("a", 40),
		"Cookie: session_id=" + strings.Repeat("a", 40)} {
		a := s.ask("POST", "/login", creds, planted)
		if got := a.Header.Get("X-Auth-Token"); got == strings.Repeat("a", 40) ||
			strings.Contains(a.Header.Get("Set-Cookie"), strings.Repeat("a", 40)) {
			t.Errorf("an id from outside (%s) is taken", planted)
		}
	}
	if len(s.revoked) != 0 {
		t.Fatal("a session that was none had a token")
	}
	s.expect("again", s.ask("POST", "/login", creds, id), 200, "")
	if len(s.revoked) != 1 || <-s.revoked != known {
		t.Error("the token of the session before is not revoked")
	}
	s.expect("the id before", s.ask("POST", "/", "[]", id), 401, "")
}

// TestSSHOfWhoMayNot: a user who may not run a function gets an error, even if there is no minion to run it on.
func TestSSHOfWhoMayNot(t *testing.T) {
	s := open(t, nil, "ssh")
	for _, tt := range []struct {
		low    string
		status int
		text   string
	}{
		{`"tgt":"*","fun":"test.ping","username":"ann","password":"sekrit","eauth":"pam"`, 200, `{"return":[{}]}`},
		{`"tgt":"*","fun":"cmd.run","username":"ann","password":"sekrit","eauth":"pam"`, 401,
			"Authorization error occurred."},
		{`"tgt":"*","fun":"cmd.run","token":"` + known + `"`, 401, "Authorization error occurred."},
		{`"tgt":"*","fun":"test.ping","token":"` + strings.Repeat("00", 32) + `"`, 401, "occurred."},
		{`"fun":"test.ping","username":"ann","password":"no","eauth":"pam"`, 401, "occurred for user ann."},
		{`"fun":"test.ping","username":"ann","password":"sekrit","eauth":"pam"`, 500, ""},
		{`"tgt":"*","username":"ann","password":"sekrit","eauth":"pam"`, 500, ""},
	} {
		s.expect(tt.low, s.ask("POST", "/run", `{"client":"ssh",`+tt.low+`}`), tt.status, tt.text)
	}
}

// TestSSHLeavesNoToken: the temporary token that checks credentials is revoked afterwards.
func TestSSHLeavesNoToken(t *testing.T) {
	s := open(t, nil, "ssh")
	for password, status := range map[string]int{"sekrit": 200, "wrong": 401} {
		s.expect(password,
			s.ask("POST", "/run", `{"client":"ssh","tgt":"*","fun":"test.ping","username":"ann","password":"`+password+
				`","eauth":"pam"}`), status, "")
	}
	if len(s.revoked) != 1 || <-s.revoked != known {
		t.Error("the token is not revoked, or another")
	}
	s.expect("by a token", s.ask("POST", "/run", `{"client":"ssh","tgt":"*","fun":"test.ping","token":"`+known+`"}`),
		200, "")
	if len(s.revoked) != 0 {
		t.Error("the token of a user is revoked")
	}
}
