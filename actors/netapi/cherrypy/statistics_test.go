package cherrypy

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAccessLog: a line names the client, of IPv6 too, and holds nothing that could be a secret.
func TestAccessLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access")
	l, err := openAccessLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.f.Close()
	session := strings.Repeat("5e55107a", 5)
	for _, from := range []string{"192.0.2.1:4711", "[2001:db8::1]:4711"} {
		r := httptest.NewRequest("GET", "/ws/"+session+"?token=secret2", nil)
		r.RemoteAddr = from
		r.Header.Set("Referer", "http://ui.example/?token=secret3")
		l.write(r, &recorder{status: 401, bytes: 7})
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		begins, ends := []string{"192.0.2.1 - - [", "2001:db8::1 - - ["}[i], `] "GET /ws/- HTTP/1.1" 401 7 "http://ui.example/" ""`
		if !strings.HasPrefix(line, begins) || !strings.HasSuffix(line, ends) {
			t.Errorf("%s", line)
		}
	}
	if strings.Contains(string(raw), "secret") || strings.Contains(string(raw), session) {
		t.Errorf("a secret is in it: %s", raw)
	}
}
