package zmq

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"brine/wire/transport"
)

// oldPeers are the bytes of peers with older protocol versions: the greeting of a DEALER (or SUB) with an empty
// identity, and a request (or a subscription).
var oldPeers = map[string]struct{ request, subscription string }{
	"ZMTP 1": {"\x01\x00" + "\x01\x01" + "\x02\x00x", "\x01\x00" + "\x02\x00\x01"},
	"ZMTP 2": {"\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x01\x05" + "\x00\x00" + "\x01\x00" + "\x00\x01x",
		"\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x01\x02" + "\x00\x00" + "\x00\x01\x01"},
}

// TestOldPeers: libzmq does not report the address of a peer that speaks ZMTP 1 or 2, so no limit by address or
// connection would hold for it. Such a peer is refused, and OnRefused is called.
func TestOldPeers(t *testing.T) {
	for name, says := range oldPeers {
		t.Run(name, func(t *testing.T) {
			refused := make(chan string, 10)
			told := func(peer string) { refused <- peer }
			r, _ := startRouter(t, RouterOptions{Endpoint: anyPort, OnRefused: told}, func(r *Router, m transport.Request) {
				if m.From == "" {
					t.Errorf("a request of nobody: %q", m.Payload)
				}
				echo(r, m)
			})
			p, subs := openPub(t, PubOptions{Endpoint: anyPort, OnRefused: told})
			for port, text := range map[string]string{r.Addr(): says.request, p.Addr(): says.subscription} {
				c, err := net.Dial("tcp", strings.TrimPrefix(port, "tcp://"))
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if _, err := c.Write([]byte(text)); err != nil {
					t.Fatal(err)
				}
				_ = c.SetReadDeadline(time.Now().Add(patience))
				if _, err := io.ReadAll(c); err != nil && !strings.Contains(err.Error(), "reset") {
					t.Errorf("the connection does not end: %v", err)
				}
				if peer := receive(t, "that a peer was refused", refused); peer != "" &&
					peer != c.LocalAddr().String() {
					t.Errorf("refused %s, want %s", peer, c.LocalAddr())
				}
			}
			q := newReq(t, ReqOptions{Endpoint: r.Addr()})
			if _, err := q.Do(testContext(t), []byte("x")); err != nil {
				t.Error(err)
			}
			startSub(t, SubOptions{Endpoint: p.Addr()}, func([][]byte) {})
			if got := receive(t, "subscription", subs); got != (subscription{"", 1}) {
				t.Errorf("%+v", got)
			}
			if len(refused) > 0 {
				t.Errorf("refused %s", <-refused)
			}
		})
	}
}
