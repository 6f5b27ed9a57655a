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

// The servers.
const (
	CherryPy Style = iota
	Tornado
)

// Reader is who reads events: its place in the stream, and the token for which it may. Both are closed with it.
type Reader struct {
	Stream *feed.Stream
	Token  *feed.Holder
}

func (r Reader) close() {
	r.Stream.Close()
	r.Token.Close()
}

const (
	// writeMost is how much is gathered before it is written.
	writeMost = 64 << 10
	// sendBuffer is the room that the kernel has for what a client has not received yet: one that stopped must not hold
	// more.
	sendBuffer = 64 << 10
	// askPatience is how long the master may take to say whether a token holds.
	askPatience = 15 * time.Second
	// writePatience is how long a client may take to receive what is written at once.
	writePatience = websocket.WriteTimeout
)

// errGone means that the client has gone.
var errGone = errors.New("events: client gone")

// pump hands events to send until something ends it: the client, its token, its slowness.
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

// ended tells of the end of a stream what is to be told.
func (h *Hub) ended(r Reader, err error) {
	var slow net.Error
	switch {
	case errors.Is(err, feed.ErrSlow), errors.As(err, &slow) && slow.Timeout() &&
		!errors.Is(err, context.DeadlineExceeded):
		h.cuts.tell(h.opt.Log, r.Stream, err)
	case errors.Is(err, feed.ErrToken):
		h.opt.Log.Info("event stream ended: its token does not hold any more", "reader", r.Stream.Name())
	default:
		h.opt.Log.Debug("event stream ended", "reader", r.Stream.Name(), "err", err)
	}
}

// orderly tells whether a stream ends in a way that its client may be told of.
func orderly(err error) bool {
	return errors.Is(err, feed.ErrToken) || errors.Is(err, feed.ErrStopped)
}

// seize takes the connection of a request over. What was read ahead of it is of no interest.
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

// limitBuffer bounds what the kernel keeps for a client, also below TLS and what else wraps it.
func limitBuffer(conn net.Conn) {
	for below, ok := conn.(interface{ NetConn() net.Conn }); ok; below, ok = conn.(interface{ NetConn() net.Conn }) {
		conn = below.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // without it the kernel's own bound holds
	}
}

// discard reads what a client has no business to send, until it goes; a client that sends a lot is gone, too.
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
