package attack

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/wire/payload"
)

// TestWebhookPort attacks the port of the engine webhook as a stranger: floods, endless bodies and headers,
// paths that would be other tags. Honest users are answered meanwhile. The stranger's events all have tags
// below salt/engines/hook/.
func TestWebhookPort(t *testing.T) {
	s := newBareSite(t, "")
	s.master.stop()
	port := s.port()
	s.writeMaster(fmt.Sprintf("engines: [{webhook: {address: 127.0.0.1, port: %d}}]\n", port))
	s.startMaster()
	s.startMinion(honest, "")
	e := s.listen()
	before, err := s.master.rss()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 600 { // from one address, more than it may have
		if c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second); err == nil {
			defer c.Close()
			// the connection may be refused
			_, _ = io.WriteString(c, []string{"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\nx",
				"POST /x HTTP/1.1\r\nX: ", "\x16\x03", ""}[i%4])
		}
	}
	s.good()
	client := &http.Client{Timeout: patience,
		Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0,
			7)}}).DialContext, MaxConnsPerHost: 16}}
	defer client.CloseIdleConnections()
	post := func(path, body string) int {
		resp, err := client.Post(fmt.Sprintf("http://127.0.0.1:%d/%s", port, path), "text/plain",
			strings.NewReader(body))
		if err != nil {
			t.Errorf("%.60q: %v", path, err)
			return 0
		}
		_, _ = io.Copy(io.Discard, resp.Body) // so that the connection can be used again
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	var flood sync.WaitGroup
	for range 16 {
		flood.Go(func() {
			for range 100 {
				post("flood", forged)
			}
		})
	}
	for range 3 {
		s.good()
	}
	flood.Wait()
	const jid = "20260101000000000001"
	for _, path := range []string{"..%2f..%2fkey", "../../key", "%2e%2e/%2e%2e/auth", "/salt/key",
		"salt/job/" + jid + "/ret/" + honest, jid, "x%0a%0asalt/key", "x%00", "%ff%fe", strings.Repeat("a/", 5000),
		"x%0d%0aX:%20y", "?tag=salt/key", "minion/refresh/" + honest, "__schedule_return", "brine/returner/dropped"} {
		post(path, forged)
		post(path, strings.Repeat(forged, 2<<20/len(forged)))
	}
	for _, h := range e.all() {
		if saysForged(h.data) && (!strings.HasPrefix(h.tag, "salt/engines/hook/") ||
			strings.Contains(h.tag, "salt/job/") || strings.ContainsAny(h.tag, "\x00\r\n")) {
			t.Errorf("a stranger fires %.100q", h.tag)
		}
	}
	if post("last", forged) != http.StatusOK {
		t.Error("an honest request is refused")
	}
	s.eventually("its event", func() error {
		if !e.has(func(tag string, data *payload.Map) bool {
			return tag == "salt/engines/hook/last" && saysForged(data)
		}) {
			return fmt.Errorf("not there")
		}
		return nil
	})
	s.good()
	s.grown(before, 96<<20)
}

// saysForged tells whether a stranger has written the data of an event. Its body is bytes.
func saysForged(data *payload.Map) bool { return strings.HasPrefix(string(data.Bytes("body")), forged) }
