package attack

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestAPICrowd: a stranger holds as many connections as possible, idle, within headers and within a body.
// Others still find connections, and descriptors for their requests.
func TestAPICrowd(t *testing.T) {
	a := newAPIWith(t, "ulimit -n 256", "")
	target := fmt.Sprintf("127.0.0.1:%d", a.port)
	for _, hello := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nX-A: ",
		"POST /run HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n["} {
		leave := a.s.crowd(300, "tcp", target, hello)
		id := a.logIn("127.0.0.9", "fred")
		for _, low := range []string{`{"client": "local", "tgt": "honest", "fun": "test.ping"}`,
			`{"client": "runner", "fun": "manage.up"}`} {
			if r := a.ask("127.0.0.9", "POST", "/", id, low); r.status != http.StatusOK || !strings.Contains(r.body,
				honest) {
				t.Errorf("beside the crowd %s: %d %s", low, r.status, r.body)
			}
		}
		if r := a.s.tool("brine", "tree", "--api"); r.code != 0 {
			t.Errorf("brine tree: %s", r.stderr)
		}
		leave()
	}
	log := a.s.logOf(a.daemon)
	if n := strings.Count(log, "connections_per_address"); n < 1 || n > 20 {
		t.Errorf("said %d times that there are too many connections", n)
	}
	if strings.Contains(log, "too many open files") {
		t.Error("there were no descriptors left")
	}
	a.end()
}
