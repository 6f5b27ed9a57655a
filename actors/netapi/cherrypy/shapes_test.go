package cherrypy_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
	"brine/wire/wiretest"
)

// raw sends bytes and returns the statuses of all answers until the connection ends. The last request closes
// it.
func (s *site) raw(text string) (got []int, err error) {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		s.t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(c, text) }() // the server may answer without reading everything
	in := bufio.NewReader(c)
	for {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			var slow net.Error
			if errors.As(err, &slow) && slow.Timeout() {
				return got, err
			}
			return got, nil
		}
		got = append(got, resp.StatusCode)
		_, _ = io.Copy(io.Discard, resp.Body) // the body may be cut off
		_ = resp.Body.Close()
	}
}

// TestRequestShapes: the end of a request is never ambiguous. A request that could be read in two ways is
// refused, and the content of a body is no request. Otherwise an attacker could add a request to that of
// another client of the same proxy.
func TestRequestShapes(t *testing.T) {
	s := open(t, payload.M("webhook_disable_auth", true))
	const hidden = "POST /hook/hidden HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
	const end = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	head := func(more string) string {
		return "POST /hook/shown HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + more + "\r\n"
	}
	chunk := func(body string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body) }
	for name, tt := range map[string]struct {
		text string
		most int // number of answers
		ok   bool
	}{
		"plain": {head("Content-Length: 2\r\n") + "{}" + end, 2, true},
		"a body that is a request": {head(fmt.Sprintf("Content-Length: %d\r\n", len(hidden))) + hidden + end, 2,
			false},
		"a GET with a body": {fmt.Sprintf("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
			len(hidden)) + hidden + end, 2, true},
		"chunks that are a request": {head("Transfer-Encoding: chunked\r\n") + chunk(hidden) + end, 2, true},
		"both, the length is short": {head("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n") + chunk(hidden) +
			end, 2, true},
		"both, the length is long": {head("Transfer-Encoding: chunked\r\nContent-Length: 500\r\n") + "0\r\n\r\n" +
			end, 2, true},
		"two lengths":              {head("Content-Length: 2\r\nContent-Length: 70\r\n") + "{}" + hidden, 1, false},
		"a list of lengths":        {head("Content-Length: 2, 70\r\n") + "{}" + hidden, 1, false},
		"a length with a sign":     {head("Content-Length: +2\r\n") + "{}" + hidden, 1, false},
		"a hexadecimal length":     {head("Content-Length: 0x2\r\n") + "{}" + hidden, 1, false},
		"a length past 64 bits":    {head("Content-Length: 18446744073709551618\r\n") + "{}" + hidden, 1, false},
		"a blank before the colon": {head("Content-Length : 70\r\n") + hidden, 1, false},
		"a name with a tab":        {head("Transfer-Encoding\t: chunked\r\n") + chunk(hidden), 1, false},
		"a folded header":          {head("Transfer-Encoding:\r\n chunked\r\n") + chunk(hidden) + end, 2, true},
		"another encoding":         {head("Transfer-Encoding: xchunked\r\n") + chunk(hidden), 1, false},
		"two encodings": {head("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") + chunk(
			hidden), 1, false},
		"an encoding before": {head("Transfer-Encoding: gzip, chunked\r\n") + chunk(hidden), 1, false},
		"chunks of another size": {head("Transfer-Encoding: chunked\r\n") + "ffffffffffffffffff\r\n" + hidden, 1,
			true},
		"two hosts": {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 1, false},
		"no host":   {"GET / HTTP/1.1\r\n\r\n", 1, false},
		"a NUL":     {"GET / HTTP/1.1\r\nHost: x\r\nX-A: \x00\r\n\r\n", 1, false},
		"HTTP/2 without TLS": {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", 1,
			false},
		"an upgrade to HTTP/2": {"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, " +
			"HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n" + end, 2, true},
		"HTTP/0.9":                {"GET /\r\n\r\n", 1, false},
		"a body that is expected": {head("Content-Length: 2\r\nExpect: 200-maybe\r\n") + "{}", 1, false},
		"TRACE": {"TRACE / HTTP/1.1\r\nHost: x\r\nCookie: a=b\r\nConnection: close\r\n\r\n", 1,
			false},
		"CONNECT": {"CONNECT evil:80 HTTP/1.1\r\nHost: evil:80\r\nConnection: close\r\n\r\n", 1,
			false},
		"ten thousand cookies": {"GET / HTTP/1.1\r\nHost: x\r\nCookie: " + strings.Repeat("session_id=x;",
			10000) + "\r\n\r\n", 1, false},
		"two thousand small cookies": {"GET /stats HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: " +
			strings.Repeat("a=b; ", 2000) + "\r\n\r\n", 1, false},
		"ten thousand headers": {"GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", 10000) + "\r\n", 1,
			false},
		"a long address": {"GET /" + strings.Repeat("a", 1<<20) + " HTTP/1.1\r\nHost: x\r\n\r\n", 1, false},
	} {
		got, err := s.raw(tt.text)
		if err != nil || len(got) > tt.most || len(got) > 0 && (got[0] < 300) != tt.ok || len(got) == 0 && tt.ok {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if _, is := s.master.events.Load("salt/netapi/hook/hidden"); is {
			t.Fatalf("%s: a hidden request was answered", name)
		}
	}
	if _, is := s.master.events.Load("salt/netapi/hook/shown"); !is {
		t.Error("the request that is plain was not")
	}
	s.expect("still there", s.ask("GET", "/", ""), 200, "Welcome")
}

// TestStaticPaths: only files below the folder are served, whatever the path, and no link leads out of it.
func TestStaticPaths(t *testing.T) {
	dir := t.TempDir()
	static := filepath.Join(dir, "static")
	for path, text := range map[string]string{"secret": "hush", "static/index.html": "shown",
		"static/deep/a.js": "shown", "static2/b": "hush"} {
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text),
			0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("../secret", filepath.Join(static, "link")),
		os.Symlink("..", filepath.Join(static, "up")), os.Symlink(filepath.Join(dir, "secret"),
			filepath.Join(static, "far"))); err != nil {
		t.Fatal(err)
	}
	for _, app := range []any{nil, filepath.Join(static, "index.html")} {
		s := open(t, payload.M("static", static, "app", app))
		for _, path := range []string{"../secret", "%2e%2e/secret", "..%2fsecret", "..%5csecret", "deep/../../secret",
			"deep/%2e%2e/%2e%2e/secret", "/../secret", "//" + dir + "/secret", dir + "/secret", "link", "up/secret",
			"far",
			"../static2/b", "", "/", ".", "..", "%00", "index.html%00", "deep", "deep/", "index.html/", "%ff",
			strings.Repeat("a/", 4000), strings.Repeat("x", 5000), "..;/secret", "....//secret", "%252e%252e/secret",
			"CON", "a.js::$DATA"} {
			for _, method := range []string{"GET", "HEAD", "POST"} {
				got, err := s.raw(method + " /static/" + path + " HTTP/1.1\r\nHost: x\r\nAccept: " +
					"*/*\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				if err != nil || len(got) > 0 && got[0] < 300 && path != "index.html/" {
					t.Errorf("%s %.40q: %v, %v", method, path, got, err)
				}
			}
		}
		s.expect("a file", s.ask("GET", "/static/deep/a.js", "", "Accept: */*"), 200, "shown")
		s.expect("many ranges", s.ask("GET", "/static/deep/a.js", "", "Accept: */*",
			"Range: bytes="+strings.Repeat("0-,", 4000)+"0-"), 200, "shown")
	}
}

// TestNothingSecretInTheLogs: the access log contains no credentials, wherever the client puts them.
func TestNothingSecretInTheLogs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access")
	s := open(t, payload.M("log_access_file", path))
	id := s.login()
	for _, at := range []string{"/ws/" + id, "/ws/" + id + "?x=" + id, "/ws//" + id, "//ws/" + id, "/%77s/" + id,
		"/events?token=" + id, "/events?salt_token=" + known, "/minions?x=" + id, "/run?token=" + known} {
		if _, err := s.raw("GET " + at + " HTTP/1.1\r\nHost: x\r\nX-Auth-Token: " + id + "\r\nCookie: session_id=" +
			id + "\r\nConnection: close\r\n\r\n"); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	s.source = "127.0.0.7"
	s.ask("GET", "/", "", "User-Agent: evil\"")
	s.source = ""
	var text []byte
	until(t, "the last line", func() bool {
		var err error
		text, err = os.ReadFile(path)
		return err == nil && strings.Contains(string(text), "127.0.0.7 - - ")
	})
	for _, secret := range []string{id, known, "sekrit"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the access log shows %q:\n%s", secret, text)
		}
	}
}

// TestNoHTTP2: with TLS there is only HTTP/1.1, so that limits for connections also limit requests. A client
// cannot open and reset millions of streams.
func TestNoHTTP2(t *testing.T) {
	crt, key := filepath.Join(t.TempDir(), "crt"), filepath.Join(t.TempDir(), "key")
	wiretest.Certificate(t, crt, key, 1)
	s := open(t, payload.M("disable_ssl", false, "ssl_crt", crt, "ssl_key", key))
	both, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	if proto := both.ConnectionState().NegotiatedProtocol; proto != "http/1.1" {
		t.Errorf("it speaks %q", proto)
	}
	if only, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true,
		NextProtos: []string{"h2"}}); err == nil {
		_ = only.Close()
		t.Error("HTTP/2 alone is spoken")
	}
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		if old, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true, MinVersion: version,
			MaxVersion: version}); err == nil {
			_ = old.Close()
			t.Errorf("TLS %x is spoken", version)
		}
	}
}
