package cherrypy

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAccessLog: a line names the client, also with IPv6, and contains no secret.
func TestAccessLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access")
	l, err := openAccessLog(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer l.f.Close()
	session := strings.Repeat("5e55107a", 5)
	for _, from := range []string{"192.0.2.1:4711", "[2001:db8::1]:4711"} {
		r := httptest.NewRequest("GET", "/ws/"+session+"?token=secret2", nil)
		r.RemoteAddr = from
		r.Header.Set("Referer", "http://ui.example/?token=secret3")
		l.write(r, &recorder{status: 401, bytes: 7}, false)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		begins, ends := []string{"192.0.2.1 - - [", "2001:db8::1 - - ["}[i],
			`] "GET /ws/- HTTP/1.1" 401 7 "http://ui.example/" ""`
		if !strings.HasPrefix(line, begins) || !strings.HasSuffix(line, ends) {
			t.Errorf("%s", line)
		}
	}
	if strings.Contains(string(raw), "secret") || strings.Contains(string(raw), session) {
		t.Errorf("a secret is in it: %s", raw)
	}
}

// TestAccessLogOfStrangers: clients who have not logged in cause few and short lines, and the daemon's log says
// so. The lines of logged-in clients are complete.
func TestAccessLogOfStrangers(t *testing.T) {
	path, told := filepath.Join(t.TempDir(), "access"), &bytes.Buffer{}
	l, err := openAccessLog(path, slog.New(slog.NewTextHandler(told, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.f.Close()
	long := strings.Repeat("x", 2<<10)
	ask := func(from string, known bool) {
		r := httptest.NewRequest(long, "/"+long, nil)
		r.RemoteAddr = from + ":4711"
		r.Header.Set("Referer", long)
		r.Header.Set("User-Agent", strings.Repeat("\x1b", 2<<10))
		l.write(r, &recorder{status: 404}, known)
	}
	for i := range 800 {
		ask("192.0.2.1", false)
		ask(fmt.Sprint("198.51.100.", i%200), false)
	}
	size := func() int64 {
		info, err := l.f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if n := size(); n > strangersBytes {
		t.Errorf("%d bytes in a minute", n)
	}
	if !strings.Contains(told.String(), "from=192.0.2.1") || strings.Count(told.String(), "\n") > 201 {
		t.Errorf("what is told: %d lines", strings.Count(told.String(), "\n"))
	}
	before := size()
	for range 1000 {
		ask("192.0.2.1", true)
	}
	if n := (size() - before) / 1000; n < 1000 || n > 8*shownBytes {
		t.Errorf("%d bytes for a line of somebody who has logged in", n)
	}
}
