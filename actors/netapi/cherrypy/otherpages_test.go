package cherrypy_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestCookieOfOtherPages: a page of another origin, or of another port of this host, cannot run anything with
// the cookie of its visitor.
func TestCookieOfOtherPages(t *testing.T) {
	s := open(t, payload.M("cors_origin", []any{"https://ui.example"}))
	id := s.login()
	cookie, plain := "Cookie: session_id="+id, "Content-Type: text/plain"
	const low = `[{"client":"local","tgt":"*","fun":"test.ping"}]`
	for origin, status := range map[string]int{"http://127.0.0.1:1": 401, "https://evil.example": 401, "null": 401,
		"https://ui.example": 200, "http://" + s.addr: 200} {
		for _, path := range []string{"/", "/minions", "/hook", "/jobs"} {
			want := status
			if status == 200 && path == "/minions" {
				want = 202
			}
			s.expect(origin+" "+path, s.ask("POST", path, low, cookie, plain, "Origin: "+origin), want, "")
		}
		s.expect(origin+" by header", s.ask("POST", "/", low, "X-Auth-Token: "+id, plain, "Origin: "+origin), 200, "")
	}
	s.expect("log-out", s.ask("POST", "/logout", "", cookie, "Origin: https://evil.example"), 401, "")
	s.expect("no page", s.ask("POST", "/", low, cookie), 200, "")
	if len(s.revoked) != 0 {
		t.Error("a page has ended the session")
	}
}

// socket requests a WebSocket and returns the status. It closes an opened one at once.
func (s *site) socket(path string, headers ...string) int {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	_, err = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: "+
		"websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n", path, s.addr,
		strings.Join(append(headers, ""), "\r\n"))
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

// TestSocketsOfOtherPages: a browser sends the session cookie for any page of the same site. Such a page still
// gets no events.
func TestSocketsOfOtherPages(t *testing.T) {
	s := open(t, payload.M("cors_origin", []any{"https://friend"}))
	id := s.login()
	cookie := "Cookie: session_id=" + id
	for _, tt := range []struct {
		name, path string
		headers    []string
		want       int
	}{
		{"no session", "/ws", nil, 401},
		{"a program", "/ws", []string{cookie}, 101},
		{"a page of this host", "/ws", []string{cookie, "Origin: http://" + s.addr}, 101},
		{"a page that is allowed", "/ws", []string{cookie, "Origin: https://friend"}, 101},
		{"another page", "/ws", []string{cookie, "Origin: http://evil"}, 403},
		{"another port", "/ws", []string{cookie, "Origin: http://127.0.0.1:1"}, 403},
		{"a file", "/ws", []string{cookie, "Origin: null"}, 403},
		{"two origins", "/ws", []string{cookie, "Origin: http://" + s.addr, "Origin: http://evil"}, 403},
		{"a prefix", "/ws", []string{cookie, "Origin: http://" + s.addr + ".evil"}, 403},
		{"a page that knows the session", "/ws", []string{"X-Auth-Token: " + id, "Origin: http://evil"}, 101},
		{"a page that knows it, by path", "/ws/" + id, []string{"Origin: http://evil"}, 101},
		{"a session that is none, by path", "/ws/" + strings.Repeat("0", 40), []string{cookie}, 401},
		{"an empty header", "/ws", []string{cookie, "X-Auth-Token: ", "Origin: http://evil"}, 403},
		{"a header that is none", "/ws", []string{cookie, "X-Auth-Token: x", "Origin: http://evil"}, 401},
	} {
		if got := s.socket(tt.path, tt.headers...); got != tt.want {
			t.Errorf("%s: status %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestLogInByOtherPages: a page of another origin cannot log its visitors in with any form, end a session, or
// guess passwords. Programs, pages of this server (also behind a proxy) and pages in cors_origin can log in.
func TestLogInByOtherPages(t *testing.T) {
	s := open(t, payload.M("cors_origin", []any{"https://ui.example"}))
	s.login()
	const form = "username=ann&password=sekrit&eauth=pam"
	const low = `{"client":"local","tgt":"*","fun":"test.ping",` + `"username":"ann","password":"sekrit","eauth":"pam"}`
	own := "Origin: http://" + s.addr
	for _, tt := range []struct {
		name    string
		headers []string
		may     bool
	}{
		{"a program", nil, true},
		{"a page of this server", []string{own}, true},
		{"the same behind a proxy", []string{"Origin: https://salt.example", "Sec-Fetch-Site: same-origin"}, true},
		{"a page that is named", []string{"Origin: https://ui.example", "Sec-Fetch-Site: cross-site"}, true},
		{"another page", []string{"Origin: https://evil.example"}, false},
		{"its form", []string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"},
			false},
		{"a page that hides", []string{"Origin: null"}, false},
		{"another port", []string{"Origin: http://127.0.0.1:1", "Sec-Fetch-Site: same-site"}, false},
		{"without an origin", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}, false},
	} {
		for _, post := range [][3]string{{"/login", creds, "application/json"}, {"/login", creds, "text/plain"},
			{"/login", form, "application/x-www-form-urlencoded"}, {"/run", low, "text/plain"},
			{"/token", "[" + creds + "]", "text/plain"}} {
			got := s.ask("POST", post[0], post[1], append(tt.headers, "Content-Type: "+post[2])...)
			cookie := got.Header.Get("Set-Cookie") != ""
			switch {
			case tt.may && (got.StatusCode != 200 || post[0] == "/login" && !cookie):
				t.Errorf("%s, %v: %d %s", tt.name, post, got.StatusCode, got.body)
			case !tt.may && (got.StatusCode != 403 || cookie):
				t.Errorf("%s, %v: %d, cookie %v", tt.name, post, got.StatusCode, cookie)
			}
		}
		for _, path := range []string{"/login", "/stats", "/jobs"} { // the answer must not replace the session cookie
			if got := s.ask("GET", path, "", tt.headers...); !tt.may && got.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s, %s: the cookie of a session is overwritten", tt.name, path)
			}
		}
	}
	wrong := strings.Replace(creds, "sekrit", "no", 1)
	for range 50 {
		s.ask("POST", "/login", wrong, "Origin: https://evil.example", "Content-Type: text/plain")
	}
	if n := s.master.failed.Load(); n != 0 {
		t.Errorf("a page has guessed %d times", n)
	}
}

// TestPicturesOfOtherPages: a page can show a picture of this server. The browser sends that request without an
// origin, and with the cookie if the page is of the same site.
func TestPicturesOfOtherPages(t *testing.T) {
	s := open(t, nil)
	cookie := "Cookie: session_id=" + s.login()
	for _, path := range []string{"/minions", "/jobs", "/keys", "/stats"} {
		s.expect(path, s.ask("GET", path, "", cookie, "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"), 401, "")
	}
	s.expect("a link", s.ask("GET", "/stats", "", cookie, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"),
		200, "")
}
