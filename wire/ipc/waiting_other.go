//go:build !linux

package ipc

import "net"

// waiting accepts the connections of a listening socket one after another.
type waiting struct {
	ln net.Listener

	taking
}

func newWaiting(ln net.Listener) (*waiting, error) { return &waiting{ln: ln}, nil }

// wait returns after it has accepted a connection, or cannot.
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

// now does nothing: on this system only wait can accept connections.
func (w *waiting) now() {}

func (w *waiting) close() error { return nil }
