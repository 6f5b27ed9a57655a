package websocket

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// masked makes a frame as clients do; head is its first byte.
func masked(head byte, data string) []byte {
	b := []byte{head, 0x80}
	switch n := len(data); {
	case n < 126:
		b[1] |= byte(n)
	case n <= 0xffff:
		b[1] |= 126
		b = binary.BigEndian.AppendUint16(b, uint16(n))
	default:
		b[1] |= 127
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	mask := [4]byte{1, 2, 3, 4}
	b = append(b, mask[:]...)
	for i := range len(data) {
		b = append(b, data[i]^mask[i&3])
	}
	return b
}

const request = "GET / HTTP/1.1\r\nHost: api\r\nConnection: keep-alive, Upgrade\r\nUpgrade: " +
	"WebSocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

// answers sends a request to a server and returns the head of its answer, without its last line.
func answers(t *testing.T, addr, request string) (net.Conn, *bufio.Reader, string) {
	t.Helper()
	client, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if err := client.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(client, request+"\r\n"); err != nil {
		t.Fatal(err)
	}
	in, head := bufio.NewReader(client), ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", head, err)
		}
		if line == "\r\n" {
			return client, in, head
		}
		head += line
	}
}

// pair makes a Conn and the client's end.
func pair(t *testing.T) (*Conn, net.Conn, *bufio.Reader) {
	t.Helper()
	made := make(chan *Conn, 1)
	addr := serve(t, func(c *Conn, err error) {
		if err != nil {
			t.Error(err)
		}
		made <- c
	})
	client, in, head := answers(t, addr, request)
	c := <-made
	t.Cleanup(func() { _ = c.line.Close() })
	// of RFC 6455, 1.3
	for _, line := range []string{"HTTP/1.1 101 Switching Protocols\r\n",
		"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", "X-Test: yes\r\n"} {
		if !strings.Contains(head, line) {
			t.Errorf("no %q in %q", line, head)
		}
	}
	return c, client, in
}

// serve is a server that makes websockets.
func serve(t *testing.T, made func(*Conn, error)) (addr string) {
	t.Helper()
	sockets := NewServer()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := sockets.Upgrade(w, r, http.Header{"X-Test": {"yes"}})
		if made(c, err); errors.Is(err, ErrHandshake) {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// exchange sends bytes to a Conn that reads until it ends, and returns its messages, what it sent, and its error.
func exchange(t *testing.T, sent []byte) (messages []string, got []byte, err error) {
	t.Helper()
	c, client, in := pair(t)
	received := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(in)
		received <- all
	}()
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = client.Write(sent)
		_ = client.(*net.TCPConn).CloseWrite()
	}()
	for err == nil {
		var data []byte
		if data, _, err = c.Read(); err == nil {
			messages = append(messages, string(data))
		}
	}
	go func() { _, _ = io.Copy(io.Discard, c.line.Conn) }() // a reset would take what was sent away from the client
	<-written
	_ = c.line.Conn.(*net.TCPConn).CloseWrite()
	return messages, <-received, err
}

func TestRead(t *testing.T) {
	const tooBig, protocol, badText = 1009, 1002, 1007
	long := strings.Repeat("x", MessageMax)
	for _, tt := range []struct {
		name   string
		sent   [][]byte
		want   []string
		status int // of the close frame
		closed bool
	}{
		{name: "text", sent: [][]byte{masked(0x81, "hello"), masked(0x88, "\x03\xe8")}, want: []string{"hello"},
			status: 1000, closed: true},
		{name: "binary", sent: [][]byte{masked(0x82, "\xff\x00"), masked(0x88, "\x03\xe9bye")},
			want: []string{"\xff\x00"}, status: 1001, closed: true},
		{name: "in parts", sent: [][]byte{masked(0x01, "a\xc3"), masked(0x00, ""), masked(0x89, ""),
			masked(0x80, "\xa4b"), masked(0x88, "\x03\xe8")}, want: []string{"aäb"}, status: 1000, closed: true},
		{name: "longest", sent: [][]byte{masked(0x81, long), masked(0x88, "\x03\xe8")}, want: []string{long},
			status: 1000, closed: true},
		{name: "pong", sent: [][]byte{masked(0x8a, "x"), masked(0x88, "\x03\xe8")}, status: 1000, closed: true},
		{name: "too long", sent: [][]byte{masked(0x81, long+"x")}, status: tooBig},
		{name: "too long in parts", sent: [][]byte{masked(0x01, long), masked(0x80, "x")}, status: tooBig},
		{name: "huge", sent: [][]byte{{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}},
			status: tooBig},
		{name: "no mask", sent: [][]byte{{0x81, 0x01, 'x'}}, status: protocol},
		{name: "reserved bits", sent: [][]byte{masked(0xc1, "x")}, status: protocol},
		{name: "unknown kind", sent: [][]byte{masked(0x83, "x")}, status: protocol},
		{name: "unknown control", sent: [][]byte{masked(0x8b, "x")}, status: protocol},
		{name: "ping in parts", sent: [][]byte{masked(0x09, "x")}, status: protocol},
		{name: "long ping", sent: [][]byte{masked(0x89, strings.Repeat("x", 126))}, status: protocol},
		{name: "part of nothing", sent: [][]byte{masked(0x80, "x")}, status: protocol},
		{name: "text within text", sent: [][]byte{masked(0x01, "x"), masked(0x81, "y")}, status: protocol},
		{name: "no UTF-8", sent: [][]byte{masked(0x81, "\xff")}, status: badText},
		{name: "close with a status that nobody may send", sent: [][]byte{masked(0x88, "\x03\xed")}, status: protocol},
		{name: "close with bad text", sent: [][]byte{masked(0x88, "\x03\xe8\xff")}, status: protocol},
		{name: "flood of pongs", sent: [][]byte{bytes.Repeat(masked(0x8a, ""), 3*framesSecond)}, status: StatusPolicy},
		{name: "flood of pings", sent: [][]byte{bytes.Repeat(masked(0x89, ""), 3*framesSecond)}, status: StatusPolicy},
		{name: "flood of empty parts", sent: [][]byte{masked(0x01, ""), bytes.Repeat(masked(0x00, ""), bytesSecond)},
			status: StatusPolicy},
		{name: "flood of long messages", sent: [][]byte{bytes.Repeat(masked(0x81, long), 8)}, want: []string{long},
			status: StatusPolicy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			messages, got, err := exchange(t, bytes.Join(tt.sent, nil))
			if strings.Join(messages, "|") != strings.Join(tt.want, "|") {
				t.Errorf("messages: got %.80q, want %.80q", messages, tt.want)
			}
			i := bytes.LastIndexByte(got, 0x88)
			if i < 0 || len(got) < i+4 || int(got[i+2])<<8|int(got[i+3]) != tt.status {
				t.Errorf("got %.80q, want a close frame with %d", got, tt.status)
			}
			if errors.Is(err, ErrClosed) != tt.closed || errors.Is(err, io.EOF) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

// A length with the highest bit set is none; a close frame without a status, or with half of one, closes.
func TestReadEnds(t *testing.T) {
	for name, sent := range map[string][]byte{
		"huge":  {0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0},
		"close": masked(0x88, ""), "half a status": masked(0x88, "x"),
	} {
		if messages, _, err := exchange(t, sent); len(messages) > 0 || err == nil ||
			errors.Is(err, ErrClosed) != (name != "huge") {
			t.Errorf("%s: got %q, %v", name, messages, err)
		}
	}
}

func TestPingsAreAnswered(t *testing.T) {
	_, got, _ := exchange(t, append(masked(0x89, "abc"), masked(0x88, "\x03\xe8")...))
	if want := "\x8a\x03abc\x88\x02\x03\xe8"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Many messages go out in one write, however long they are together, and one frame serves all clients.
func TestSend(t *testing.T) {
	one, _, fromOne := pair(t)
	two, _, fromTwo := pair(t)
	small, big := Text("a", "b"), Text(strings.Repeat("x", 100_000))
	for _, c := range []*Conn{one, two} {
		room := new([]byte)
		sent := make(chan error)
		go func() {
			sent <- errors.Join(c.Send(room, slices.Values([]*Message{small, small, big, small})), c.SendText("alone"))
		}()
		in := fromOne
		if c == two {
			in = fromTwo
		}
		want := "\x81\x02ab\x81\x02ab\x81\x7f\x00\x00\x00\x00\x00\x01\x86\xa0" + strings.Repeat("x",
			100_000) + "\x81\x02ab\x81\x05alone"
		got := make([]byte, len(want))
		if _, err := io.ReadFull(in, got); string(got) != want || err != nil {
			t.Errorf("got %.80q, %v", got, err)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
	}
}

func TestAfterClose(t *testing.T) {
	c, _, in := pair(t)
	if err := c.Close(StatusGone, "stopped"); err != nil {
		t.Error(err)
	}
	if b, _ := io.ReadAll(in); string(b) != "\x88\x09\x03\xe9stopped" {
		t.Errorf("the client got %q", b)
	}
	if err := c.Send(new([]byte), slices.Values([]*Message{Text("x")})); err == nil {
		t.Error("sent after close")
	}
	if _, _, err := c.Read(); err == nil {
		t.Error("read after close")
	}
}

// A client that reads nothing holds neither Close nor the writer, and not the answers to its pings either.
func TestCloseOfAClientThatStopped(t *testing.T) {
	c, client, _ := pair(t)
	sent, read := make(chan error), make(chan error)
	start := time.Now()
	full := make(chan struct{})
	go func() {
		big := Text(strings.Repeat("x", 1<<20))
		var err error
		for i := 0; err == nil; i++ {
			if i == 1 {
				close(full)
			}
			err = c.Send(new([]byte), slices.Values([]*Message{big, big, big, big, big, big, big, big}))
		}
		sent <- err
	}()
	go func() {
		_, _, err := c.Read()
		read <- err
	}()
	_, _ = client.Write(masked(0x89, "ping"))
	select {
	case <-full: // buffers of the kernel are larger than that
	case <-time.After(time.Second):
	}
	closing := time.Now()
	_ = c.Close(StatusGone, "")
	if took := time.Since(closing); took > WriteTimeout-lastWord {
		t.Errorf("Close took %v", took)
	}
	if err := <-sent; err == nil {
		t.Error("it was sent to nobody")
	}
	if err := <-read; err == nil {
		t.Error("read from nobody")
	}
	if took := time.Since(start); took > 2*WriteTimeout {
		t.Errorf("it took %v", took)
	}
}

// A client that takes nothing is lost, whoever waits for it.
func TestAClientThatTakesNothing(t *testing.T) {
	server, client := net.Pipe()
	t.Cleanup(func() { _, _ = server.Close(), client.Close() })
	l := &line{Conn: server}
	l.end()
	_, err := l.Write([]byte("x"))
	var slow net.Error
	if !errors.As(err, &slow) || !slow.Timeout() {
		t.Errorf("got %v", err)
	}
}

func TestHandshake(t *testing.T) {
	results := make(chan error, 1)
	addr := serve(t, func(_ *Conn, err error) { results <- err })
	for name, change := range map[string][2]string{
		"method":     {"GET", "POST"},
		"HTTP/1.0":   {"HTTP/1.1", "HTTP/1.0"},
		"connection": {", Upgrade", ""},
		"upgrade":    {"Upgrade: WebSocket", "X: y"},
		"version":    {"Version: 13", "Version: 8"},
		"no key":     {"Sec-WebSocket-Key", "X"},
		"short key":  {"dGhlIHNhbXBsZSBub25jZQ==", "Zg=="},
	} {
		_, _, head := answers(t, addr, strings.Replace(request, change[0], change[1], 1))
		if err := <-results; !errors.Is(err, ErrHandshake) || !strings.Contains(head, fmt.Sprint(http.StatusTeapot)) {
			t.Errorf("%s: %v, answered by %q", name, err, head)
		}
	}
}

// What a client sends before it has been answered is refused.
func TestTooEarly(t *testing.T) {
	results := make(chan error, 1)
	addr := serve(t, func(_ *Conn, err error) { results <- err })
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, request+"\r\n"+string(masked(0x81, "early"))); err != nil {
		t.Fatal(err)
	}
	if err := <-results; !errors.Is(err, ErrLost) {
		t.Errorf("got %v", err)
	}
}

func TestSameOrigin(t *testing.T) {
	for origin, want := range map[string]bool{
		"": true, "http://api:8000": true, "https://API:8000": true, "http://api": false, "http://evil": false,
		"null":                 false,
		"http://api:8000.evil": false, "http://api:8000@evil": false, "api:8000": false,
		"http://evil/http://api:8000": false,
	} {
		r := &http.Request{Host: "api:8000", Header: http.Header{}}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if SameOrigin(r) != want {
			t.Errorf("%s: got %v", origin, !want)
		}
	}
}

// TestSameOriginBySite: what browsers say of the site.
func TestSameOriginBySite(t *testing.T) {
	for _, tt := range []struct {
		origin, site, mode string
		want               bool
	}{
		{"", "", "", true},
		{"", "none", "navigate", true},                            // an address that was typed
		{"", "cross-site", "navigate", true},                      // a link
		{"", "same-origin", "cors", true},                         //
		{"", "same-site", "no-cors", false},                       // a picture of a page of another port
		{"", "cross-site", "no-cors", false},                      //
		{"", "cross-site", "websocket", false},                    //
		{"https://salt.example", "same-origin", "cors", true},     // behind a proxy that says another host
		{"https://salt.example", "", "", false},                   //
		{"http://upstream:8000", "same-site", "cors", false},      //
		{"http://upstream:8000", "", "", true},                    //
		{"null", "cross-site", "navigate", false},                 // a form of a page without an origin
		{"null", "", "", false},                                   //
		{"https://evil.example", "cross-site", "navigate", false}, // a form
		{"https://evil.example", "made up", "navigate", false},    //
	} {
		r := httptest.NewRequest("GET", "http://upstream:8000/", nil)
		for name, v := range map[string]string{"Origin": tt.origin, "Sec-Fetch-Site": tt.site,
			"Sec-Fetch-Mode": tt.mode} {
			if v != "" {
				r.Header.Set(name, v)
			}
		}
		if got := SameOrigin(r); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
