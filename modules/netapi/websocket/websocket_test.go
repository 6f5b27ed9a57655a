package websocket

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// masked makes a frame as clients do; head is its first byte.
func masked(head byte, data string) []byte {
	b := appendHead(nil, 0, len(data))
	b[0] = head
	b[1] |= bitMask
	mask := [4]byte{1, 2, 3, 4}
	b = append(b, mask[:]...)
	body := []byte(data)
	unmask(body, mask)
	return append(b, body...)
}

// pair makes a Conn and the client's end.
func pair(t *testing.T, ahead []byte) (*Conn, net.Conn) {
	t.Helper()
	server, client := net.Pipe()
	t.Cleanup(func() { _ = server.Close(); _ = client.Close() })
	if err := client.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return New(server, ahead), client
}

// exchange sends bytes to a Conn that reads until it ends, and returns its messages, what it sent, and its error.
func exchange(t *testing.T, sent []byte) (messages []string, got []byte, err error) {
	t.Helper()
	c, client := pair(t, nil)
	received := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(client)
		received <- all
	}()
	go func() {
		_, _ = client.Write(sent)
		_ = client.SetWriteDeadline(time.Now()) // nothing more comes
	}()
	for {
		var data []byte
		data, _, err = c.Read()
		if err != nil {
			break
		}
		messages = append(messages, string(data))
		if len(messages) >= 3 {
			break
		}
	}
	_ = c.conn.Close()
	return messages, <-received, err
}

func TestRead(t *testing.T) {
	long := strings.Repeat("x", MessageMax)
	for _, tt := range []struct {
		name   string
		sent   [][]byte
		want   []string
		status int // of the close frame
		err    error
	}{
		{name: "text", sent: [][]byte{masked(0x81, "hello"), masked(0x88, "")}, want: []string{"hello"}, status: 1000, err: ErrClosed},
		{name: "binary", sent: [][]byte{masked(0x82, "\xff\x00"), masked(0x88, "\x03\xe9bye")}, want: []string{"\xff\x00"}, status: 1001, err: ErrClosed},
		{name: "in parts", sent: [][]byte{masked(0x01, "a\xc3"), masked(0x00, ""), masked(0x89, ""), masked(0x80, "\xa4b"), masked(0x88, "")},
			want: []string{"aäb"}, status: 1000, err: ErrClosed},
		{name: "longest", sent: [][]byte{masked(0x81, long), masked(0x88, "")}, want: []string{long}, status: 1000, err: ErrClosed},
		{name: "pong", sent: [][]byte{masked(0x8a, "x"), masked(0x88, "")}, status: 1000, err: ErrClosed},
		{name: "too long", sent: [][]byte{masked(0x81, long+"x")}, status: StatusTooBig},
		{name: "too long in parts", sent: [][]byte{masked(0x01, long), masked(0x80, "x")}, status: StatusTooBig},
		{name: "huge", sent: [][]byte{{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}}, status: StatusTooBig},
		{name: "no mask", sent: [][]byte{{0x81, 0x01, 'x'}}, status: StatusProtocol},
		{name: "reserved bits", sent: [][]byte{masked(0xc1, "x")}, status: StatusProtocol},
		{name: "unknown kind", sent: [][]byte{masked(0x83, "x")}, status: StatusProtocol},
		{name: "unknown control", sent: [][]byte{masked(0x8b, "x")}, status: StatusProtocol},
		{name: "ping in parts", sent: [][]byte{masked(0x09, "x")}, status: StatusProtocol},
		{name: "long ping", sent: [][]byte{masked(0x89, strings.Repeat("x", 126))}, status: StatusProtocol},
		{name: "part of nothing", sent: [][]byte{masked(0x80, "x")}, status: StatusProtocol},
		{name: "text within text", sent: [][]byte{masked(0x01, "x"), masked(0x81, "y")}, status: StatusProtocol},
		{name: "no UTF-8", sent: [][]byte{masked(0x81, "\xff")}, status: StatusText},
		{name: "close of one byte", sent: [][]byte{masked(0x88, "x")}, status: StatusProtocol},
		{name: "close with a status that nobody may send", sent: [][]byte{masked(0x88, "\x03\xed")}, status: StatusProtocol},
		{name: "close with bad text", sent: [][]byte{masked(0x88, "\x03\xe8\xff")}, status: StatusProtocol},
		{name: "flood of pongs", sent: [][]byte{bytes.Repeat(masked(0x8a, ""), 3*framesSecond)}, status: StatusPolicy},
		{name: "flood of empty parts", sent: [][]byte{masked(0x01, ""), bytes.Repeat(masked(0x00, ""), 3*framesSecond)}, status: StatusPolicy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			messages, got, err := exchange(t, bytes.Join(tt.sent, nil))
			if strings.Join(messages, "|") != strings.Join(tt.want, "|") {
				t.Errorf("messages: got %.80q, want %.80q", messages, tt.want)
			}
			i := bytes.LastIndexByte(got, 0x88)
			if i < 0 || len(got) < i+4 || int(got[i+2])<<8|int(got[i+3]) != tt.status {
				t.Errorf("got %q, want a close frame with %d", got, tt.status)
			}
			var bad *ProtocolError
			if tt.err != nil && !errors.Is(err, tt.err) || tt.err == nil && !errors.As(err, &bad) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestPingsAreAnswered(t *testing.T) {
	_, got, _ := exchange(t, append(masked(0x89, "abc"), masked(0x88, "")...))
	if want := "\x8a\x03abc\x88\x02\x03\xe8"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadAhead(t *testing.T) {
	c, _ := pair(t, masked(0x81, "early"))
	data, text, err := c.Read()
	if string(data) != "early" || !text || err != nil {
		t.Errorf("got %q, %v, %v", data, text, err)
	}
}

func TestAppendText(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 65535, 65536, 1 << 20} {
		data := strings.Repeat("x", n)
		b := AppendText([]byte("before"), data[:n/2], data[n/2:])[6:]
		size, err := readSize(bytes.NewReader(b[2:]), b[1])
		if b[0] != 0x81 || err != nil || size != uint64(n) || string(b[len(b)-n:]) != data {
			t.Errorf("%d bytes: head % x, %v", n, b[:2], err)
		}
	}
}

func TestAfterClose(t *testing.T) {
	c, client := pair(t, nil)
	got := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(client)
		got <- all
	}()
	if err := c.Close(StatusGone, "stopped"); err != nil {
		t.Error(err)
	}
	if b := <-got; string(b) != "\x88\x09\x03\xe9stopped" {
		t.Errorf("the client got %q", b)
	}
	if err := c.Send(AppendText(nil, "x")); !errors.Is(err, ErrClosed) {
		t.Errorf("send: %v", err)
	}
	if _, _, err := c.Read(); err == nil {
		t.Error("read after close")
	}
}

// a client that reads nothing holds neither Close nor the writer.
func TestCloseOfAClientThatStopped(t *testing.T) {
	c, _ := pair(t, nil)
	sent := make(chan error)
	go func() { sent <- c.Send(AppendText(nil, "x")) }()
	start := time.Now()
	_ = c.Close(StatusGone, "")
	if err := <-sent; err == nil {
		t.Error("it was sent to nobody")
	}
	if took := time.Since(start); took > WriteTimeout {
		t.Errorf("it took %v", took)
	}
}

func handshake() *http.Request {
	return &http.Request{Method: "GET", ProtoMajor: 1, ProtoMinor: 1, Host: "api:8000", Header: http.Header{
		"Connection": {"keep-alive, Upgrade"}, "Upgrade": {"WebSocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}}
}

func TestHandshake(t *testing.T) {
	got, err := Accept(handshake())
	if want := "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="; got != want || err != nil { // of RFC 6455, 1.3
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for name, spoil := range map[string]func(r *http.Request){
		"method":     func(r *http.Request) { r.Method = "POST" },
		"HTTP/1.0":   func(r *http.Request) { r.ProtoMinor = 0 },
		"connection": func(r *http.Request) { r.Header.Set("Connection", "keep-alive") },
		"upgrade":    func(r *http.Request) { r.Header.Del("Upgrade") },
		"version":    func(r *http.Request) { r.Header.Set("Sec-WebSocket-Version", "8") },
		"no key":     func(r *http.Request) { r.Header.Del("Sec-WebSocket-Key") },
		"short key":  func(r *http.Request) { r.Header.Set("Sec-WebSocket-Key", "Zg==") },
		"two keys":   func(r *http.Request) { r.Header.Add("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==") },
	} {
		r := handshake()
		if spoil(r); r != nil {
			if _, err := Accept(r); !errors.Is(err, ErrHandshake) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestSameOrigin(t *testing.T) {
	for origin, want := range map[string]bool{
		"": true, "http://api:8000": true, "https://API:8000": true, "http://api": false, "http://evil": false, "null": false,
		"http://api:8000.evil": false, "http://api:8000@evil": false, "api:8000": false, "http://evil/http://api:8000": false,
	} {
		r := handshake()
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if SameOrigin(r) != want {
			t.Errorf("%s: got %v", origin, !want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(masked(0x81, "hello"))
	f.Add(append(masked(0x01, "a"), masked(0x80, "b")...))
	f.Add([]byte{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, sent []byte) {
		c := New(sink{}, sent)
		for {
			data, _, err := c.Read()
			if err != nil {
				return
			}
			if len(data) > MessageMax {
				t.Fatalf("message of %d bytes", len(data))
			}
		}
	})
}

// sink is a connection from which nothing comes.
type sink struct{ net.Conn }

func (sink) Read([]byte) (int, error)         { return 0, io.EOF }
func (sink) Write(b []byte) (int, error)      { return len(b), nil }
func (sink) SetWriteDeadline(time.Time) error { return nil }
