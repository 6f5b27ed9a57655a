package events

import (
	"context"
	"errors"
	"net/http"
	"time"

	"brine/actors/netapi/aside"
	"brine/modules/netapi/feed"
	"brine/modules/netapi/websocket"
)

// These are the text messages of clients and the answer to them.
const (
	readyText  = "websocket client ready"
	answerText = "server received message"
)

const (
	// readyPatience is how long a client may take to say that it is ready. Unlike Salt: a client that never
	// says so is disconnected.
	readyPatience = time.Minute
	// Tables smaller than smallTables may be sent after each event. Bigger ones are sent once for all waiting
	// events, and at most at the rate tablesRate.
	smallTables = 64 << 10
	tablesRate  = 1 << 20 // bytes per second
	tablesPause = 5 * time.Second
)

// WebSocket tells how to serve a websocket.
type WebSocket struct {
	Style Style
	// Format means to send summaries in place of events.
	Format bool
	// Grains starts a job that asks minions for their grains, with the rights of the reader. ids names the
	// minions; nil means all. It may block. If Grains is nil, no minion is asked.
	Grains func(ctx context.Context, ids []string) error
}

// ServeWebSocket answers the handshake of a client and sends it events after it has said that it is ready. It
// also sends headers that are set already. It returns an error, websocket.ErrHandshake or another, only before
// the answer has begun.
func (h *Hub) ServeWebSocket(w http.ResponseWriter, r *http.Request, reader Reader, how WebSocket) error {
	defer reader.close()
	header := w.Header().Clone()
	setDate(header)
	if how.Style == CherryPy {
		header.Set("Content-Type", "text/plain;charset=utf-8")
		header.Set("Sec-Websocket-Version", "13")
	}
	ws, err := h.sockets.Upgrade(w, r, header)
	if errors.Is(err, websocket.ErrLost) {
		h.ended(reader, err)
		return nil
	}
	if err != nil {
		return err
	}
	limitBuffer(ws.NetConn())
	s := &socket{hub: h, ws: ws, reader: reader, how: how, ready: make(chan struct{})}
	s.serve(r.Context())
	return nil
}

// socket is one open websocket.
type socket struct {
	hub    *Hub
	ws     *websocket.Conn
	reader Reader
	how    WebSocket
	ready  chan struct{} // closed when the client is ready
	asking chan struct{} // full while minions are asked for their grains
}

func (s *socket) serve(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	s.asking = make(chan struct{}, 1)
	read := make(chan struct{})
	aside.Go(s.hub.opt.Log, "reader", cancel, func() {
		defer close(read)
		cancel(s.read())
	})
	err := s.awaitReady(ctx)
	if err == nil {
		err = s.write(ctx)
	}
	cancel(err)
	_ = s.ws.Close(closing(err)) // the client notices it
	<-read
	s.hub.ended(s.reader, err)
}

// closing is the status and the reason in the closing frame.
func closing(err error) (status int, reason string) {
	switch {
	case errors.Is(err, feed.ErrStopped):
		return websocket.StatusGone, ""
	case errors.Is(err, feed.ErrSlow):
		return websocket.StatusPolicy, "too slow"
	}
	return websocket.StatusNormal, ""
}

// read reads the messages of the client until it goes away.
func (s *socket) read() error {
	ready := false
	for {
		data, _, err := s.ws.Read()
		if err != nil {
			return err
		}
		if !ready && string(data) == readyText {
			ready = true
			s.reader.Stream.Skip() // earlier events are not shown
			close(s.ready)
		}
		if s.how.Style == CherryPy {
			if err := s.ws.SendText(answerText); err != nil {
				return err
			}
		}
	}
}

// awaitReady waits for the client.
func (s *socket) awaitReady(ctx context.Context) error {
	late := time.NewTimer(readyPatience)
	defer late.Stop()
	select {
	case <-s.ready:
		return nil
	case <-late.C:
		return errGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *socket) write(ctx context.Context) error {
	if s.how.Format {
		return s.writeTables(ctx)
	}
	return pump(ctx, s.reader, func(got []*feed.Event) error {
		room := s.hub.borrow()
		defer s.hub.giveBack(room)
		return s.ws.Send(room, func(yield func(*websocket.Message) bool) {
			for _, e := range got {
				if m := s.how.Style.message(e); m != nil && !yield(m) {
					return
				}
			}
		})
	})
}

// message turns an event into a message, the same for all readers, or returns nil for data that is no event.
func (s Style) message(e *feed.Event) *websocket.Message {
	m, _ := e.Form(int(s), func() any {
		json := e.JSON()
		switch {
		case json == "":
			return nil
		case s == CherryPy:
			return websocket.Text("data: ", json, "\n\n")
		}
		return websocket.Text(json)
	}).(*websocket.Message)
	return m
}
