package apiplay

import (
	"bufio"
	"context"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// Raw is a connection for reading single parts of an answer: the chunks of an event stream, the frames of a
// WebSocket.
type Raw struct {
	conn net.Conn
	in   *bufio.Reader
	Head Answer // normalized status and headers
}

// OwnOrigin means the origin of the server's own pages.
const OwnOrigin = "own"

// websocketKey is in every WebSocket request, and websocketAccept must be in the answer (RFC 6455, 1.3).
const websocketKey = "YnJpbmUgcGxheXMgYWxvbg=="

func websocketAccept() string {
	sum := sha1.Sum([]byte(websocketKey + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Dial sends a request and reads the head of the answer. It sends only the headers of r and Host. If origin is
// given, as OwnOrigin or any other, it adds the headers of an upgrade to a WebSocket.
func Dial(ctx context.Context, base string, r Request, origin string, sent ...string) (*Raw, error) {
	scheme, host, _ := strings.Cut(base, "://")
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	if scheme == "https" {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // the peer is a process of the test
	}
	w := &Raw{conn: conn, in: bufio.NewReader(conn)}
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end) // an error shows with the first byte
	}
	if origin == OwnOrigin {
		origin = base
	}
	if err := w.ask(r, host, origin, sent); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	return w, nil
}

func (w *Raw) ask(r Request, host, origin string, sent []string) error {
	lines := []string{r.Method + " " + r.Path + " HTTP/1.1", "Host: " + host}
	for _, h := range r.Header {
		lines = append(lines, h[0]+": "+h[1])
	}
	if !r.NoBody {
		lines = append(lines, fmt.Sprintf("Content-Length: %d", len(r.Body)))
	}
	if origin != "" {
		lines = append(lines, "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
			"Sec-WebSocket-Key: "+websocketKey, "Origin: "+origin)
	}
	if _, err := io.WriteString(w.conn, strings.Join(lines, "\r\n")+"\r\n\r\n"+r.Body); err != nil {
		return err
	}
	text := textproto.NewReader(w.in)
	first, err := text.ReadLine()
	if err != nil {
		return err
	}
	words := strings.Fields(first)
	head, err := text.ReadMIMEHeader()
	if err != nil || len(words) < 2 {
		return fmt.Errorf("%q: %w", first, err)
	}
	status, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	if status == http.StatusSwitchingProtocols && head.Get("Sec-Websocket-Accept") != websocketAccept() {
		return fmt.Errorf("the upgrade brings Sec-WebSocket-Accept %q, want %q", head.Get("Sec-Websocket-Accept"),
			websocketAccept())
	}
	w.Head = Normal(r.Name, status, http.Header(head), "", sent...)
	return nil
}

// Close closes the connection, as a client that goes away.
func (w *Raw) Close() { w.conn.Close() }

// Chunk is the next chunk of the body.
func (w *Raw) Chunk() (string, error) {
	line, err := w.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	size, err := strconv.ParseInt(strings.TrimSpace(line), 16, 32)
	if err != nil || size == 0 {
		return "", errors.Join(io.EOF, err)
	}
	raw := make([]byte, size+2)
	_, err = io.ReadFull(w.in, raw)
	return string(raw[:size]), err
}

// Say sends a text frame. text must be shorter than 126 bytes.
func (w *Raw) Say(text string) error {
	frame := append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...) // masked with zeros
	_, err := w.conn.Write(frame)
	return err
}

// Pong sends a ping and returns the text frames that arrive before the pong. The server has then read
// everything that was sent before.
func (w *Raw) Pong() (before []string, err error) {
	if _, err := w.conn.Write([]byte{0x89, 0x80, 0, 0, 0, 0}); err != nil {
		return nil, err
	}
	for {
		kind, text, err := w.frame()
		if err != nil || kind == 0x8a {
			return before, err
		}
		before = append(before, text)
	}
}

// Frame returns the next frame, which must be a text frame.
func (w *Raw) Frame() (string, error) {
	kind, text, err := w.frame()
	if err == nil && kind != 0x81 {
		err = fmt.Errorf("a frame that begins with %#x: %q", kind, text)
	}
	return text, err
}

// frame returns the next frame and its first byte.
func (w *Raw) frame() (kind byte, text string, err error) {
	var head [2]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return 0, "", err
	}
	size := uint64(head[1] & 0x7f)
	var long [8]byte
	switch size {
	case 126:
		if _, err := io.ReadFull(w.in, long[6:]); err != nil {
			return 0, "", err
		}
		size = binary.BigEndian.Uint64(long[:])
	case 127:
		if _, err := io.ReadFull(w.in, long[:]); err != nil {
			return 0, "", err
		}
		size = binary.BigEndian.Uint64(long[:])
	}
	if size > 1<<24 {
		return 0, "", fmt.Errorf("a frame of %d bytes", size)
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(w.in, raw); err != nil {
		return 0, "", err
	}
	return head[0], string(raw), nil
}

// HeadOf returns the normalized head of a recorded answer. lines ends at the first empty line.
func HeadOf(name string, lines []string, sent ...string) Answer {
	h, status := http.Header{}, 0
	for i, line := range lines {
		if line == "" {
			break
		}
		if i == 0 {
			status, _ = strconv.Atoi(strings.Fields(line)[1]) // a recorded line is well formed
			continue
		}
		key, value, _ := strings.Cut(line, ": ")
		h.Add(key, standIns(value))
	}
	return Normal(name, status, h, "", sent...)
}
