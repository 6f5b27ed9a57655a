package websocket

import (
	"errors"
	"iter"
	"net"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

// Bounds of what a client may send.
const (
	MessageMax   = 64 << 10 // bytes of a message
	framesSecond = 1000     // messages, pings and pongs in a second
)

// WriteTimeout is how long a client may take to receive what is sent at once.
const WriteTimeout = 10 * time.Second

// readRoom is the room for reading ahead: clients of event streams send little.
const readRoom = 512

// Statuses with which a connection is closed (RFC 6455, 7.4.1).
const (
	StatusNormal = websocket.CloseNormalClosure
	StatusGone   = websocket.CloseGoingAway
	StatusPolicy = websocket.ClosePolicyViolation
)

// ErrClosed means that the client has closed the connection in an orderly way.
var ErrClosed = errors.New("websocket: closed by the client")

var errText = errors.New("websocket: text that is not UTF-8")

// Message is a message of text that was framed once, for any number of clients.
type Message = websocket.PreparedMessage

// Text makes a Message of parts.
func Text(parts ...string) *Message {
	// it fails for unknown kinds only
	m, _ := websocket.NewPreparedMessage(websocket.TextMessage, []byte(strings.Join(parts, "")))
	return m
}

// Conn is a connection after its handshake. One goroutine reads; any may send.
type Conn struct {
	ws   *websocket.Conn
	line *line

	second time.Time // of which frames are counted
	frames int

	mu sync.Mutex // of sending messages
}

func newConn(ws *websocket.Conn, l *line) *Conn {
	c := &Conn{ws: ws, line: l}
	ws.SetReadLimit(MessageMax)
	ws.SetPingHandler(func(data string) error {
		if err := c.countFrame(time.Now()); err != nil {
			return err
		}
		return ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(WriteTimeout))
	})
	ws.SetPongHandler(func(string) error { return c.countFrame(time.Now()) }) // nobody waits for it
	return c
}

// NetConn is the connection that the HTTP server has handed over.
func (c *Conn) NetConn() net.Conn { return c.line.Conn }

// Read waits for a message of the client; pings are answered meanwhile. Errors: ErrClosed, a fault of the client, or
// that of the connection; the client has been told, and nothing more can be read.
func (c *Conn) Read() (data []byte, text bool, err error) {
	kind, data, err := c.ws.ReadMessage()
	text = kind == websocket.TextMessage
	if err == nil {
		err = c.countFrame(time.Now())
	}
	if err == nil && text && !utf8.Valid(data) {
		err = errText
	}
	var closed *websocket.CloseError
	switch {
	case err == nil:
		return data, text, nil
	case errors.Is(err, errFlood):
		c.sendClose(StatusPolicy, "too much in a second")
	case errors.Is(err, errText):
		c.sendClose(websocket.CloseInvalidFramePayloadData, "text that is not UTF-8")
	case errors.As(err, &closed):
		err = ErrClosed
	}
	return nil, false, err
}

// countFrame refuses floods.
func (c *Conn) countFrame(now time.Time) error {
	if now.Sub(c.second) >= time.Second {
		c.second, c.frames = now, 0
	}
	if c.frames++; c.frames > framesSecond {
		return errFlood
	}
	return nil
}

// Send sends messages, many in one write, for which room is used. A client that does not take 64 KiB of them in
// WriteTimeout is lost.
func (c *Conn) Send(room *[]byte, messages iter.Seq[*Message]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line.gather(room)
	var err error
	for m := range messages {
		if err = c.ws.WritePreparedMessage(m); err != nil {
			break
		}
	}
	return errors.Join(err, c.line.release())
}

// SendText sends a message that is for this client alone.
func (c *Conn) SendText(text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ws.WriteMessage(websocket.TextMessage, []byte(text))
}

// sendClose sends the last frame, unless it was sent. Nobody waits for its answer.
func (c *Conn) sendClose(status int, reason string) {
	// the end in any case
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(status, reason),
		time.Now().Add(lastWord))
}

// Close tells the client why, and closes the connection. A Read that waits ends.
func (c *Conn) Close(status int, reason string) error {
	c.line.end() // a writer that waits for the client is not to be waited for
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sendClose(status, reason)
	return c.ws.Close()
}
