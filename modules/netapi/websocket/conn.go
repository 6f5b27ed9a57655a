package websocket

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
	"unicode/utf8"
)

// Bounds of what a client may send.
const (
	MessageMax   = 64 << 10 // bytes of a message
	framesSecond = 1000     // frames of any kind in a second
)

// WriteTimeout is how long a client may take to receive what is sent at once.
const WriteTimeout = 10 * time.Second

// pieceMost is how much is written at once.
const pieceMost = 64 << 10

// lastWord is how long a close frame may take.
const lastWord = time.Second

// readRoom is the room for reading ahead: clients of event streams send little.
const readRoom = 512

// ErrClosed means that the client has closed the connection in an orderly way.
var ErrClosed = errors.New("websocket: closed by the client")

// Conn is a connection after its handshake. One goroutine reads; any may send.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader

	second time.Time // of which frames are counted
	frames int

	mu     sync.Mutex // of writing
	closed bool       // a close frame was sent
}

// New makes a Conn of a connection whose handshake was answered. ahead is what was read of it already.
func New(conn net.Conn, ahead []byte) *Conn {
	var r io.Reader = conn
	if len(ahead) > 0 {
		r = io.MultiReader(&rest{ahead}, conn)
	}
	return &Conn{conn: conn, in: bufio.NewReaderSize(r, readRoom)}
}

// rest is what was read ahead. It is forgotten once it is taken.
type rest struct{ data []byte }

func (r *rest) Read(p []byte) (int, error) {
	n := copy(p, r.data)
	if r.data = r.data[n:]; len(r.data) == 0 {
		r.data = nil
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Read waits for a message of the client and answers pings meanwhile. Errors: ErrClosed, a *ProtocolError, or that of the
// connection; the client has been told, and nothing more can be read.
func (c *Conn) Read() (data []byte, text bool, err error) {
	data, text, err = c.read()
	if err != nil {
		if status := statusOf(err); status != 0 {
			c.sendClose(status, err.Error())
		}
		return nil, false, err
	}
	return data, text, nil
}

func (c *Conn) read() (data []byte, text bool, err error) {
	var open bool // a message in parts
	for {
		f, err := readFrame(c.in)
		if err == nil {
			err = c.countFrame(time.Now())
		}
		if err != nil {
			return nil, false, err
		}
		switch {
		case f.control():
			if err := c.control(f); err != nil {
				return nil, false, err
			}
			continue
		case f.op == opContinuation != open:
			return nil, false, fault(StatusProtocol, "parts of a message in disorder")
		case f.size > uint64(MessageMax-len(data)):
			return nil, false, fault(StatusTooBig, "message of more than %d bytes", MessageMax)
		}
		if !open {
			open, text = true, f.op == opText
		}
		if data, err = c.body(data, f); err != nil {
			return nil, false, err
		}
		if !f.final {
			continue
		}
		if text && !utf8.Valid(data) {
			return nil, false, fault(StatusText, "text that is not UTF-8")
		}
		return data, text, nil
	}
}

// body reads what a frame holds behind data.
func (c *Conn) body(data []byte, f frame) ([]byte, error) {
	at := len(data)
	data = append(data, make([]byte, f.size)...)
	if _, err := io.ReadFull(c.in, data[at:]); err != nil {
		return nil, err
	}
	unmask(data[at:], f.mask)
	return data, nil
}

// countFrame refuses floods.
func (c *Conn) countFrame(now time.Time) error {
	if now.Sub(c.second) >= time.Second {
		c.second, c.frames = now, 0
	}
	if c.frames++; c.frames > framesSecond {
		return fault(StatusPolicy, "more than %d frames in a second", framesSecond)
	}
	return nil
}

func (c *Conn) control(f frame) error {
	data, err := c.body(nil, f)
	if err != nil {
		return err
	}
	switch f.op {
	case opPing:
		return c.Send(appendControl(nil, opPong, data))
	case opClose:
		return c.onClose(data)
	}
	return nil // a pong for which nobody waits
}

// onClose answers the close frame of the client.
func (c *Conn) onClose(data []byte) error {
	status := StatusNormal
	if len(data) > 0 {
		if len(data) < 2 || !utf8.Valid(data[2:]) {
			return fault(StatusProtocol, "close frame that is none")
		}
		if status = int(binary.BigEndian.Uint16(data)); !mayClose(status) {
			return fault(StatusProtocol, "close frame with status %d", status)
		}
	}
	c.sendClose(status, "")
	return ErrClosed
}

// mayClose tells which statuses may stand in a frame (RFC 6455, 7.4).
func mayClose(status int) bool {
	return status >= 1000 && status <= 1003 || status >= 1007 && status <= 1014 || status >= 3000 && status <= 4999
}

// Send sends frames that were made before. A client that does not take a piece of them in WriteTimeout is lost.
func (c *Conn) Send(frames []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	return c.write(frames, WriteTimeout)
}

// write writes piece by piece; each has its own time, so that a slow line can take a big message.
func (c *Conn) write(frames []byte, patience time.Duration) error {
	for len(frames) > 0 {
		if err := c.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		n, err := c.conn.Write(frames[:min(len(frames), pieceMost)])
		if frames = frames[n:]; err != nil {
			return err
		}
	}
	return nil
}

// sendClose sends the last frame. Nobody waits for its answer.
func (c *Conn) sendClose(status int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	data := binary.BigEndian.AppendUint16(nil, uint16(status))
	data = append(data, reason[:min(len(reason), controlMax-2)]...)
	_ = c.write(appendControl(nil, opClose, data), lastWord) // it is the end in any case
}

// Close tells the client why, and closes the connection. A Read that waits ends.
func (c *Conn) Close(status int, reason string) error {
	// A writer that waits for the client is not to be waited for.
	_ = c.conn.SetWriteDeadline(time.Now().Add(lastWord))
	c.sendClose(status, reason)
	return c.conn.Close()
}
