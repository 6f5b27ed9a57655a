//go:build !linux

package ipc

import (
	"net"
	"sync"
)

// waiting takes connections off a listening socket, one after the other as they come.
type waiting struct {
	ln net.Listener

	mu   sync.Mutex
	take func(net.Conn) // nil while nobody serves
}

func newWaiting(ln net.Listener) (*waiting, error) { return &waiting{ln: ln}, nil }

// taker sets who gets the connections until the returned function is called.
func (w *waiting) taker(take func(net.Conn)) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take = take
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.take = nil
	}
}

// wait returns when it has taken a connection, or cannot.
func (w *waiting) wait() error {
	conn, err := w.ln.Accept()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.take == nil {
		return conn.Close()
	}
	w.take(conn)
	return nil
}

// now does nothing: here only wait can take connections.
func (w *waiting) now() {}

func (w *waiting) close() error { return nil }
