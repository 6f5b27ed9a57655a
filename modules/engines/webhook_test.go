package engines

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/event"
	"brine/wire/loopback"
)

// freePort is a port that nobody has.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = port.Release() })
	return port.Number
}

// hooked is a webhook that listens.
func hooked(t *testing.T, more string) (r *running, addr string) {
	t.Helper()
	port := freePort(t)
	r = begin(t, newFake(t), fmt.Sprintf("[{webhook: {address: 127.0.0.1, port: %d%s}}]", port, more))
	addr = fmt.Sprintf("127.0.0.1:%d", port)
	r.logs("the webhook listens")
	return r, addr
}

// ask sends bytes and reads the status and the body of the answer.
func ask(t *testing.T, addr, request string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, cut := io.WriteString(conn, request) // who refuses a body need not read all of it
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, errors.Join(err, cut).Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body) // a server that has not read all of a request resets the connection
	return resp.StatusCode, string(b)
}

func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nX-B: 2\r\nx-a: 1\r\nX-B: 3\r\nContent-Length: %d\r\n\r\n%s",
		path, len(body), body)
}

// TestWebhook: the path stands behind salt/engines/hook/, headers and body are the data.
func TestWebhook(t *testing.T) {
	r, addr := hooked(t, "")
	for _, tt := range []struct{ path, tag string }{
		{"/", ""}, {"/a/b", "a/b"}, {"/a/b?c=d", "a/b"}, {"//a", "/a"}, {"/../../x", "../../x"}, {"/%C3%A9%20", "é "},
		{"/salt/auth", "salt/auth"}, {"/salt/job/x", "salt/job/x"},
	} {
		status, body := ask(t, addr, post(tt.path, "\x00\xff body"))
		if status != 200 || body != "" {
			t.Errorf("%s: %d %q", tt.path, status, body)
			continue
		}
		f := r.next()
		if f.tag != "salt/engines/hook/"+tt.tag {
			t.Errorf("%s: the tag is %q", tt.path, f.tag)
		}
		if got, ok := f.data.Value("body").([]byte); !ok || string(got) != "\x00\xff body" {
			t.Errorf("%s: the body is %v", tt.path, f.data.Value("body"))
		}
		if got := jsonOf(
			f.data.Map("headers")); got != `{"Host": "h", "Content-Length": "7", "X-A": "1", "X-B": "2,3"}` {
			t.Errorf("%s: headers %s", tt.path, got)
		}
	}
	if status, body := ask(t, addr, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"); status != 405 ||
		body != "<html><title>405: Method Not Allowed</title><body>405: Method Not Allowed</body></html>" {
		t.Errorf("GET: %d %s", status, body)
	}
	chunked := "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
	if status, _ := ask(t, addr, chunked); status != 200 {
		t.Errorf("chunked: %d", status)
	}
	if got := r.next().String(); got != `salt/engines/hook/c {"headers": {"Host": "h", "Transfer-Encoding": "chunked"}, "body": "abc"}` {
		t.Errorf("chunked: %s", got)
	}
	r.refuse = errRefused
	if status, _ := ask(t, addr, post("/a", "")); status != 503 {
		t.Errorf("an event that could not be fired: %d", status)
	}
}

// TestWebhookRefuses: what would forge an event, or hold memory, comes to nothing.
func TestWebhookRefuses(t *testing.T) {
	r, addr := hooked(t, "")
	for _, tt := range []struct {
		name, request string
		status        int
	}{
		{"newlines begin the data", post("/x%0A%0A%81", ""), 400},
		{"one newline", post("/x%0A", ""), 400},
		{"NUL", post("/%00", ""), 400},
		{"no UTF-8", post("/%ff", ""), 400},
		{"a job's tag inside", post("/salt/job/20261123094500123456/ret/x", ""), 400},
		{"a syndic's", post("/syndic/s/20261123094500123456/new", ""), 400},
		{"too long", post("/"+strings.Repeat("x", 9000), ""), 400},
		{"headers too large", "POST / HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", 431},
		{"a body that is announced too large", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000000\r\n\r\n", 413},
		{"two lengths", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
		{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
		{"half a body", "", 0},
	} {
		if tt.request == "" {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn,
				"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf"); err != nil {
				t.Fatal(err)
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if status, body := ask(t, addr, tt.request); status != tt.status {
			t.Errorf("%s: %d %s, want %d", tt.name, status, body, tt.status)
		}
	}
	if status, _ := ask(t, addr, post("/last", "")); status != 200 {
		t.Errorf("after all that: %d", status)
	}
	if got := r.next().tag; got != "salt/engines/hook/last" {
		t.Errorf("an event was fired: %s", got)
	}
}

// TestWebhookLarge: of a large body as much is kept as makes the event tell that it was too large.
func TestWebhookLarge(t *testing.T) {
	r, addr := hooked(t, "")
	resp, err := http.Post("http://"+addr+"/large", "x/y", bytes.NewReader(make([]byte, 20<<20)))
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	f := r.next()
	if got := len(f.data.Value("body").([]byte)); got != 1<<20+1 {
		t.Errorf("%d bytes were kept", got)
	}
	body, err := event.Pack(f.tag, f.data, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, data, err := event.Unpack(body); err != nil || data.Value("body") != "VALUE_TRIMMED" {
		t.Errorf("the event: %v, %v", data.Value("body"), err)
	}
}

// TestWebhookCrowd: half-open and slow connections of one address have a bound, and others are served. What all bodies
// hold has one, too.
func TestWebhookCrowd(t *testing.T) {
	r, addr := hooked(t, "")
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	dial := func(from string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		return c
	}
	for range hookPerAddress + 10 {
		c := dial("127.0.0.2")
		// those above the bound are closed
		_, _ = io.WriteString(c, "POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 5000000\r\n\r\n")
	}
	r.logs("the webhook closes a connection: there are too many")
	if status, _ := ask(t, addr, post("/quick", "x")); status != 200 {
		t.Errorf("another address: %d", status)
	}
	r.next()
	more := post("/more", strings.Repeat("x", 600<<10))
	held := 0
	r.eventually("bodies are refused for want of room", func() error {
		// Each takes less than what is asked for: so those that still fit in the end leave too little room for that.
		_, _ = io.WriteString(dial(fmt.Sprintf("127.0.0.%d", 3+held/100)),
			"POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 5000000\r\n\r\n"+strings.Repeat("x", 256<<10))
		held++
		status, text := ask(t, addr, more)
		if status == 200 {
			r.next()
		}
		if status != 503 {
			return fmt.Errorf("the answer is %d %s beside %d slow bodies", status, text, held)
		}
		return nil
	})
	for _, c := range conns {
		_ = c.Close()
	}
	r.eventually("the room is given back", func() error {
		if status, _ := ask(t, addr, more); status != 200 {
			return fmt.Errorf("the answer is %d", status)
		}
		return nil
	})
}

// TestWebhookTLS: the certificate counts, clear text is refused, and a certificate that is not there ends the engine.
func TestWebhookTLS(t *testing.T) {
	dir := t.TempDir()
	crt, key := filepath.Join(dir, "crt"), filepath.Join(dir, "key")
	out, err := exec.Command("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
		"/CN=localhost", "-keyout", key, "-out", crt).CombinedOutput()
	if err != nil {
		t.Skipf("openssl makes no certificate: %v %s", err, out)
	}
	r, addr := hooked(t, fmt.Sprintf(", ssl_crt: %q, ssl_key: %q", crt, key))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	resp, err := client.Post("https://"+addr+"/s", "x/y", strings.NewReader("b"))
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	if got := r.next().tag; got != "salt/engines/hook/s" {
		t.Errorf("got %s", got)
	}
	if status, _ := ask(t, addr, post("/clear", "")); status != 400 {
		t.Errorf("clear text: %d", status)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	bad := begin(t, newFake(t), fmt.Sprintf("[{webhook: {address: 127.0.0.1, port: %d, ssl_crt: %q, ssl_key: %q}}]",
		freePort(t), crt, key))
	if err := bad.ended(); err == nil || !strings.Contains(err.Error(), key) {
		t.Errorf("a key that is not there: %v", err)
	}
}

// TestWebhookTaken: a port that is taken ends the engine; one that has ended frees it.
func TestWebhookTaken(t *testing.T) {
	r, addr := hooked(t, "")
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	text := "[{webhook: {address: 127.0.0.1, port: " + port + "}}]"
	if err := begin(t, newFake(t), text).ended(); err == nil || !strings.Contains(err.Error(),
		"address already in use") {
		t.Errorf("got %v", err)
	}
	r.stop()
	_ = r.ended()
	begin(t, newFake(t), text).logs("the webhook listens")
}
