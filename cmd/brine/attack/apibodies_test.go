package attack

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestAPIBodies: bodies that expand to much more than their length, from two addresses at once, cost salt-api
// little memory, and no time after their clients are gone. Another client is answered meanwhile.
func TestAPIBodies(t *testing.T) {
	a := newAPI(t)
	const length = 15 << 20
	target, most := fmt.Sprintf("127.0.0.1:%d", a.port), int64(0)
	for kind, parts := range map[string][2]string{"application/x-www-form-urlencoded": {"", "arg=1&"},
		"application/json": {"[", "{},"}, "application/x-yaml": {"[", "a: 1,"}} {
		body := parts[0] + strings.Repeat(parts[1], length/len(parts[1]))
		var clients []net.Conn
		for i := range 8 {
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%2))}}
			c, err := dialer.Dial("tcp", target)
			if err != nil {
				t.Fatal(err)
			}
			clients = append(clients, c)
			go func() { // the connection may be cut
				_, _ = fmt.Fprintf(c, "POST /run HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
					kind, len(body))
				_, _ = io.WriteString(c, body)
			}()
		}
		id := a.logIn("127.0.0.9", "fred")
		for range 3 {
			if r := a.ask("127.0.0.9", "POST", "/", id,
				`{"client": "local", "tgt": "honest", "fun": "test.ping"}`); r.status != http.StatusOK {
				t.Errorf("%s: a good request beside it: %d %s", kind, r.status, r.body)
			}
			if n, err := a.daemon.rss(); err == nil {
				most = max(most, n)
			}
		}
		for _, c := range clients {
			_ = c.Close()
		}
	}
	if most > 400<<20 {
		t.Errorf("salt-api took %d MiB", most>>20)
	}
	a.s.idles(a.daemon)
	a.end()
}
