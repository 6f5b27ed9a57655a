package events

import (
	"net"
	"time"

	"brine/modules/netapi/feed"
)

// writer writes events to a connection, many at once. It borrows its buffer only while it writes.
type writer struct {
	hub  *Hub
	conn net.Conn
}

// events writes events in the given form.
func (w *writer) events(got []*feed.Event, form func([]byte, *feed.Event) []byte) error {
	room := w.hub.borrow()
	defer w.hub.giveBack(room)
	b := (*room)[:0]
	for _, e := range got {
		if b = form(b, e); len(b) < writeMost {
			continue
		}
		if err := w.flush(b); err != nil {
			return err
		}
		b = b[:0]
	}
	*room = b
	return w.flush(b)
}

// flush writes the bytes in parts. Each part has its own time limit, so that a slow connection can take a big
// event.
func (w *writer) flush(b []byte) error {
	for len(b) > 0 {
		if err := w.conn.SetWriteDeadline(time.Now().Add(writePatience)); err != nil {
			return err
		}
		n, err := w.conn.Write(b[:min(len(b), writeMost)])
		if b = b[n:]; err != nil {
			return err
		}
	}
	return nil
}

// borrow lends a buffer for writing. The caller gives it back.
func (h *Hub) borrow() *[]byte {
	if room, ok := h.rooms.Get().(*[]byte); ok {
		return room
	}
	room := make([]byte, 0, 4096)
	return &room
}

// giveBack takes a buffer back, unless a huge event has enlarged it.
func (h *Hub) giveBack(room *[]byte) {
	if cap(*room) <= 4*writeMost {
		h.rooms.Put(room)
	}
}
