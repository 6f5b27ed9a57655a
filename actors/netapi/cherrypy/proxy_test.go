package cherrypy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"brine/wire/payload"
)

// behind puts a reverse proxy at 127.0.0.5 before a site. Requests go through it. It appends the client's
// address to the client's own X-Forwarded-For.
func (s *site) behind() {
	s.t.Helper()
	target := &url.URL{Scheme: "http", Host: s.addr}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
			r.SetXForwarded()
		},
		Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0,
			5)}}).DialContext},
	})
	s.t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
	})
	s.addr = proxy.Listener.Addr().String()
}

// TestReverseProxy: behind a reverse proxy each client counts with its own address, whatever the client claims.
// Streams arrive without delay.
func TestReverseProxy(t *testing.T) {
	s := open(t, payload.M("trusted_proxies", []any{"127.0.0.5"}, "authorized_ips", []any{"127.0.0.66", "127.0.0.7"},
		"webhook_disable_auth", true))
	direct := s.addr
	s.behind()
	s.source = "127.0.0.66"
	wrong := strings.Replace(creds, "sekrit", "no", 1)
	for _, forged := range []string{"127.0.0.7", "127.0.0.7, 127.0.0.5", "[::1]:80", "garbage", "127.0.0.5", "",
		"127.0.0.7,", strings.Repeat("127.0.0.7, ", 500)} {
		for range 10 {
			s.expect("a guess", s.ask("POST", "/login", wrong, "X-Forwarded-For: "+forged), 401, "")
		}
	}
	if n := s.master.failed.Load(); n != 10 {
		t.Errorf("the master was asked %d times", n)
	}
	s.expect("the guesser", s.ask("POST", "/login", creds), 401, "")
	s.source = "127.0.0.7"
	id := s.ask("POST", "/login", creds, "X-Forwarded-For: 127.0.0.66").Header.Get("X-Auth-Token")
	if id == "" {
		t.Fatal("whom he guesses is shut out at an address of his own")
	}
	s.expect("a hook", s.ask("POST", "/hook/a", `{"x": 1}`), 200, `{"success":true}`)
	if hook, _ := s.master.events.Load("salt/netapi/hook/a"); hook.(*payload.Map).Map("headers").Str(
		"Remote-Addr") != "127.0.0.7" {
		t.Errorf("the hook comes from %v", hook)
	}
	s.stream(id)
	s.source = "127.0.0.99"
	for _, forged := range []string{"127.0.0.7", "127.0.0.5", "127.0.0.7, 127.0.0.5", "x, 127.0.0.7"} {
		for _, path := range []string{"/login", "/hook/b"} {
			s.expect("who may not, "+forged, s.ask("POST", path, creds, "X-Forwarded-For: "+forged), 403, "Bad IP")
		}
	}
	s.addr = direct
	s.expect("who may not, without the proxy", s.ask("POST", "/hook/b", `{}`, "X-Forwarded-For: 127.0.0.7"), 403,
		"Bad IP")
	if _, was := s.master.events.Load("salt/netapi/hook/b"); was {
		t.Error("his hook was fired")
	}
}

// stream reads one event from SSE as it arrives, and opens a WebSocket.
func (s *site) stream(id string) {
	s.t.Helper()
	dial := func(head string) (net.Conn, *bufio.Reader) {
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(s.source)}}).Dial("tcp", s.addr)
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := io.WriteString(c, head+" HTTP/1.1\r\nHost: "+s.addr+"\r\nX-Auth-Token: "+id+"\r\n"); err != nil {
			s.t.Fatal(err)
		}
		return c, bufio.NewReader(c)
	}
	events, in := dial("GET /events")
	defer events.Close()
	_, _ = io.WriteString(events, "\r\n") // an error shows with the read
	for _, want := range []string{"retry: 400", "tag: test/proxied"} {
		for line := ""; !strings.Contains(line, want); {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				s.t.Fatalf("no %s: %v", want, err)
			}
		}
		s.master.fire("test/proxied", payload.M("n", int64(1)))
	}
	ws, in := dial("GET /ws")
	defer ws.Close()
	_, _ = io.WriteString(ws, "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: "+
		"13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, " 101 ") {
		s.t.Errorf("a WebSocket: %q, %v", line, err)
	}
}
