package events

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/modules/netapi/feed"
	"brine/wire/payload"
)

// front is a server with the streams of both kinds.
type front struct {
	hub     *Hub
	tokens  *feed.Tokens
	revoked atomic.Bool
	asked   atomic.Int64
	pause   time.Duration // time that the master takes for an answer about a token
	grains  chan []string
	url     string
	addr    string
}

func newFront(t testing.TB, bus *fakeBus, limits feed.Limits) *front {
	t.Helper()
	return newFrontOf(t, bus, limits, false)
}

// newFrontOf is newFront, with TLS or without.
func newFrontOf(t testing.TB, bus *fakeBus, limits feed.Limits, tls bool) *front {
	t.Helper()
	h, _, _ := startHub(t, bus, limits)
	f := &front{hub: h, grains: make(chan []string, 10)}
	f.tokens = feed.NewTokens(func(context.Context, string) (*payload.Map, error) {
		f.asked.Add(1)
		<-time.After(f.pause)
		if f.revoked.Load() {
			return nil, errors.New("unknown")
		}
		return payload.M("expire", float64(time.Now().Add(time.Hour).Unix())), nil
	})
	server := httptest.NewUnstartedServer(f)
	start := server.Start
	if tls {
		start = server.StartTLS
	}
	start()
	t.Cleanup(func() {
		h.ring.End(feed.ErrStopped)
		server.Close()
	})
	f.url, f.addr = server.URL, server.Listener.Addr().String()
	return f
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	style := CherryPy
	if strings.HasPrefix(r.URL.Path, "/tornado") {
		style = Tornado
	}
	s, err := f.hub.Open(r.Context(), "127.0.0.1")
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("X-Test", "yes")
	reader := Reader{Stream: s, Token: f.tokens.Hold(cmp.Or(r.Header.Get("X-Auth-Token"), "f00d"))}
	if strings.HasSuffix(r.URL.Path, "/events") {
		err = f.hub.ServeSSE(w, r, reader, style)
	} else {
		err = f.hub.ServeWebSocket(w, r, reader, WebSocket{Style: style, Format: r.URL.Query().Has("format_events"),
			Grains: func(_ context.Context, ids []string) error { f.grains <- ids; return nil }})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// dial sends a request line with headers. It returns the connection after the head of the answer.
func (f *front) dial(t testing.TB, path string, header ...string) (net.Conn, *bufio.Reader, []string) {
	t.Helper()
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, f.addr, strings.Join(append(header, ""),
		"\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	var head []string
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", head, err)
		}
		if line = strings.TrimSpace(line); line == "" {
			return conn, in, head
		}
		head = append(head, line)
	}
}

func expect(t testing.TB, in io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(in, got); err != nil || string(got) != want {
		t.Fatalf("got  %q, %v\nwant %q", got[:n], err, want)
	}
}

var upgrade = []string{"Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}

// text makes a client's frame, with a mask of zeros.
func text(s string) string {
	return "\x81" + string([]byte{0x80 | byte(len(s))}) + "\x00\x00\x00\x00" + s
}

// frameOf makes a server's frame for 126 to 65,535 bytes.
func frameOf(s string) string {
	return "\x81\x7e" + string([]byte{byte(len(s) >> 8), byte(len(s))}) + s
}

const stamp = "2026-11-23T12:00:00.000000+00:00"

// TestSSE: the chunks are those of vectors/api cherrypy_events_sse and tornado3007_events_ws.
func TestSSE(t *testing.T) {
	for path, want := range map[string]string{
		"/events": "b\r\nretry: 400\n\r\n" +
			"13\r\ntag: salt/netapi/x\n\r\n" +
			"6b\r\ndata: {\"data\": {\"minions\": [\"m1\"], \"_stamp\": \"" + stamp +
			"\"}, \"tag\": \"salt/netapi/x\"}\n\n\r\n",
		"/tornado/events": "b\r\nretry: 400\n\r\n" +
			"7e\r\ntag: salt/netapi/x\ndata: {\"data\": {\"minions\": [\"m1\"], \"_stamp\": \"" + stamp +
			"\"}, \"tag\": \"salt/netapi/x\"}\n\n\r\n",
	} {
		t.Run(path, func(t *testing.T) {
			bus := newFakeBus()
			f := newFront(t, bus, feed.Limits{})
			_, in, head := f.dial(t, path)
			all := strings.Join(head, "\n") + "\n"
			kind := typeCherryPy
			if path != "/events" {
				kind = typeTornado
			}
			for _, line := range []string{"HTTP/1.1 200 OK", "Content-Type: " + kind, "Cache-Control: no-cache",
				"Connection: keep-alive", "Transfer-Encoding: chunked", "X-Test: yes"} {
				if !strings.Contains(all, line+"\n") {
					t.Errorf("no line %q in\n%s", line, all)
				}
			}
			bus.fire(t, "salt/netapi/x", payload.M("minions", []any{"m1"}, "_stamp", stamp))
			expect(t, in, want)
		})
	}
}

func TestSSEToOldClients(t *testing.T) {
	bus := newFakeBus()
	f := newFront(t, bus, feed.Limits{})
	conn, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, "GET /events HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	for line := ""; line != "\r\n"; {
		if line, err = in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "chunked") {
			t.Error(line)
		}
	}
	expect(t, in, "retry: 400\n")
	bus.fire(t, "t/1", payload.M("_stamp", "now"))
	expect(t, in, "tag: t/1\ndata: {\"data\": {\"_stamp\": \"now\"}, \"tag\": \"t/1\"}\n\n")
}

// TestATagMakesNoLines: anyone who fires an event chooses its tag, even a minion. A tag must not add lines to
// the stream.
func TestATagMakesNoLines(t *testing.T) {
	bus := newFakeBus()
	f := newFront(t, bus, feed.Limits{})
	_, in, _ := f.dial(t, "/tornado/events")
	bus.put([]byte("a\rdata: x\nid: 1\n\n\x80"))
	expect(t, in, "b\r\nretry: 400\n\r\n45\r\ntag: a data: x id: 1\ndata: {\"data\": {}, \"tag\": \"a\\rdata: "+
		"x\\nid: 1\"}\n\n")
}

func TestARevokedTokenEndsTheStream(t *testing.T) {
	for _, path := range []string{"/events", "/tornado/events"} {
		bus := newFakeBus()
		f := newFront(t, bus, feed.Limits{})
		_, in, _ := f.dial(t, path)
		f.revoked.Store(true)
		bus.fire(t, "t/1", payload.M("secret", 1))
		rest, err := io.ReadAll(in)
		if string(rest) != "b\r\nretry: 400\n\r\n0\r\n\r\n" && !f.revoked.Load() || strings.Contains(string(rest),
			"secret") || err != nil {
			t.Errorf("%s: got %q, %v", path, rest, err)
		}
	}
}

func TestStopEndsTheAnswers(t *testing.T) {
	bus := newFakeBus()
	f := newFront(t, bus, feed.Limits{})
	_, in, _ := f.dial(t, "/events")
	_, ws, _ := f.dial(t, "/ws", upgrade...)
	f.hub.ring.End(feed.ErrStopped)
	if rest, err := io.ReadAll(in); string(rest) != "b\r\nretry: 400\n\r\n0\r\n\r\n" || err != nil {
		t.Errorf("got %q, %v", rest, err)
	}
	_ = ws
}

func TestAClientThatGoesGivesItsPlaceBack(t *testing.T) {
	bus := newFakeBus()
	f := newFront(t, bus, feed.Limits{})
	for _, path := range []string{"/events", "/ws", "/tornado/ws"} {
		conn, _, _ := f.dial(t, path, upgrade...)
		_ = conn.Close()
	}
	for deadline := time.Now().Add(patience); len(f.hub.Readers()) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%v are still there", f.hub.Readers())
		}
		<-time.After(time.Millisecond)
	}
}

func TestAClientThatTalksToAStreamIsCut(t *testing.T) {
	f := newFront(t, newFakeBus(), feed.Limits{})
	conn, in, _ := f.dial(t, "/events")
	flood := strings.Repeat("x", 1<<20)
	_, _ = io.WriteString(conn, flood)
	if _, err := io.Copy(io.Discard, in); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
}

func TestWebSocketEvents(t *testing.T) {
	event := `{"data": {"n": 1, "_stamp": "now"}, "tag": "t/1"}`
	for path, want := range map[string]string{
		"/ws":         "\x81\x17server received message\x81\x17server received message\x81\x39data: " + event + "\n\n",
		"/tornado/ws": "\x81\x31" + event,
	} {
		bus := newFakeBus()
		f := newFront(t, bus, feed.Limits{})
		conn, in, head := f.dial(t, path, upgrade...)
		all := strings.Join(head, "\n") + "\n"
		for _, line := range []string{"HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
			"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="} {
			if !strings.Contains(all, line+"\n") {
				t.Errorf("%s: no %q in\n%s", path, line, all)
			}
		}
		witness := open(t, f.hub, "witness")
		bus.fire(t, "too/early", payload.M())
		take(t, witness, 1)
		_, _ = io.WriteString(conn, text("hello"))
		if path == "/ws" {
			expect(t, in, want[:25])
			want = want[25:]
		}
		answer := ""
		if path == "/ws" {
			answer, want = want[:25], want[25:]
		}
		ready(t, conn, in, answer)
		bus.fire(t, "t/1", payload.M("n", 1, "_stamp", "now"))
		expect(t, in, want)
	}
}

// ready says that the client is ready, and waits until the server has read that.
func ready(t testing.TB, conn net.Conn, in io.Reader, answer string) {
	t.Helper()
	_, _ = io.WriteString(conn, text(readyText)+"\x89\x80\x00\x00\x00\x00") // followed by a ping
	expect(t, in, answer+"\x8a\x00")
}

func TestWebSocketTables(t *testing.T) {
	job := `{"jobs": {"1": {"jid": "1", "start_time": "now", "minions": {"m1": {"success": false}}, "fun": "test.ping", "tgt": "m1", "tgt_type": "glob", "state": "running"}}}`
	for path, end := range map[string]string{"/ws?format_events": "", "/tornado/ws?format_events=1": "\n\n"} {
		bus := newFakeBus()
		f := newFront(t, bus, feed.Limits{})
		conn, in, _ := f.dial(t, path, upgrade...)
		if end == "" {
			ready(t, conn, in, "\x81\x17"+answerText)
		} else {
			ready(t, conn, in, "")
			if ids := <-f.grains; ids != nil {
				t.Errorf("grains of %v", ids)
			}
		}
		bus.fire(t, "salt/job/1/new", payload.M("jid", "1", "tgt_type", "glob", "tgt", "m1", "fun", "test.ping",
			"minions", []any{"m1"}, "_stamp", "now"))
		expect(t, in, frameOf(job+end))
		if ids := askedOf(t, f, bus); len(ids) != 1 || ids[0] != "m7" {
			t.Errorf("grains of %v", ids)
		}
	}
}

// askedOf fires that m7 is there until a minion is asked for its grains. The question waits for the next event
// while an earlier one is in progress.
func askedOf(t *testing.T, f *front, bus *fakeBus) []string {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		bus.fire(t, "salt/presence/present", payload.M("present", []any{"m7"}))
		select {
		case ids := <-f.grains:
			return ids
		case <-time.After(time.Second):
		}
	}
	t.Fatal("nobody is asked")
	return nil
}

func TestNoHandshake(t *testing.T) {
	f := newFront(t, newFakeBus(), feed.Limits{})
	_, _, head := f.dial(t, "/ws")
	if head[0] != "HTTP/1.1 400 Bad Request" {
		t.Errorf("got %q", head[0])
	}
	if n := len(f.hub.Readers()); n != 0 {
		t.Errorf("%d readers are left", n)
	}
}

// TestAReaderThatStops: a reader that stops reading delays no other, and is cut.
func TestAReaderThatStops(t *testing.T) {
	bus := newFakeBus()
	f := newFront(t, bus, feed.Limits{Bytes: 1 << 20})
	var stopped []net.Conn
	for _, path := range []string{"/events", "/ws"} {
		conn, _, _ := f.dial(t, path, upgrade...)
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		_, _ = io.WriteString(conn, text(readyText))
		stopped = append(stopped, conn)
	}
	_, in, _ := f.dial(t, "/tornado/events")
	got := make(chan string, 100)
	go func() {
		defer close(got)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if strings.HasPrefix(line, "tag: ") {
				got <- strings.TrimSpace(line)
			}
		}
	}()
	big := strings.Repeat("x", 100_000)
	for i := 0; len(f.hub.Readers()) > 1 && i < 3000; i++ {
		bus.fire(t, fmt.Sprint("t/", i), payload.M("big", big))
		select {
		case line, ok := <-got:
			if want := fmt.Sprint("tag: t/", i); !ok || line != want {
				t.Fatalf("the quick reader got %q, want %q", line, want)
			}
		case <-time.After(patience):
			t.Fatal("the quick reader waits")
		}
		if i > 200 { // buffers are full by now; only the write timeout can end it
			<-time.After(10 * time.Millisecond)
		}
	}
	if n := len(f.hub.Readers()); n != 1 {
		t.Errorf("%d readers are left", n)
	}
	_ = stopped
}

// TestManyStreamsOfOneAddress: a client that opens thousands of idle streams uses the places of one address.
// Other clients still find places.
func TestManyStreamsOfOneAddress(t *testing.T) {
	bus := newFakeBus()
	h, _, _ := startHub(t, bus, feed.Limits{})
	opened := 0
	for range 10_000 {
		if s, err := h.Open(testContext(t), "10.0.0.66"); err == nil {
			t.Cleanup(s.Close)
			opened++
		} else if !errors.Is(err, feed.ErrFull) {
			t.Fatal(err)
		}
	}
	if opened != 2500 {
		t.Errorf("one address has %d streams", opened)
	}
	other := open(t, h, "10.0.0.1")
	bus.fire(t, "t/1", payload.M())
	take(t, other, 1)
}
