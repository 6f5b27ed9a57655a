package events

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"brine/modules/netapi/feed"
	"brine/modules/netapi/websocket"
)

// Style is the server whose form of events a client gets.
type Style int

// These are the servers.
const (
	CherryPy Style = iota
	Tornado
)

// Reader is a reader's position in the stream, and the token that permits it. Both are closed together.
type Reader struct {
	Stream *feed.Stream
	Token  *feed.Holder
}

func (r Reader) close() {
	r.Stream.Close()
	r.Token.Close()
}

const (
	// writeMost is the size at which gathered events are written.
	writeMost = 64 << 10
	// sendBuffer is the size of the kernel's buffer for a client. A client that stopped reading must not use
	// more.
	sendBuffer = 64 << 10
	// askPatience bounds the wait for the master's answer about a token.
	askPatience = 15 * time.Second
	// writePatience is how long a client may take to receive the data of one write.
	writePatience = websocket.WriteTimeout
)

// errGone means that the client has gone.
var errGone = errors.New("events: client gone")

// pump passes events to send until the client, its token, or its slowness ends it.
func pump(ctx context.Context, r Reader, send func(got []*feed.Event) error) error {
	for {
		got, err := r.Stream.Next(ctx)
		if err != nil {
			return err
		}
		if err := check(ctx, r.Token, len(got) > 0); err != nil {
			return err
		}
		if len(got) == 0 {
			continue
		}
		if err := send(got); err != nil {
			return err
		}
	}
}

func check(ctx context.Context, token *feed.Holder, busy bool) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	return token.Check(ctx, busy)
}

// ended logs the end of a stream.
func (h *Hub) ended(r Reader, err error) {
	var slow net.Error
	switch {
	case errors.Is(err, feed.ErrSlow), errors.As(err, &slow) && slow.Timeout() &&
		!errors.Is(err, context.DeadlineExceeded):
		h.cuts.tell(h.opt.Log, r.Stream, err)
	case errors.Is(err, feed.ErrToken):
		h.opt.Log.Info("event stream ended: its token is not valid any more", "reader", r.Stream.Name())
	default:
		h.opt.Log.Debug("event stream ended", "reader", r.Stream.Name(), "err", err)
	}
}

// orderly tells whether the client may learn of the end of the stream.
func orderly(err error) bool {
	return errors.Is(err, feed.ErrToken) || errors.Is(err, feed.ErrStopped)
}

// seize takes over the connection of a request. It drops data that was read ahead.
func seize(w http.ResponseWriter) (net.Conn, error) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	limitBuffer(conn)
	return conn, nil
}

// limitBuffer limits the kernel's buffer for a client, also below TLS and other wrappers.
func limitBuffer(conn net.Conn) {
	for below, ok := conn.(interface{ NetConn() net.Conn }); ok; below, ok = conn.(interface{ NetConn() net.Conn }) {
		conn = below.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // on an error the kernel's own limit applies
	}
}

// discard reads and drops data from a client until it goes away. A client that sends a lot counts as gone.
func discard(conn net.Conn) error {
	const most = 64 << 10
	var room [256]byte
	for n := 0; n < most; {
		m, err := conn.Read(room[:])
		if n += m; err != nil {
			if errors.Is(err, io.EOF) {
				err = errGone
			}
			return err
		}
	}
	return errGone
}
