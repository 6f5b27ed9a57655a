package ipc

import (
	"net"
	"sync"
)

// taking is who gets the connections of a listening socket.
type taking struct {
	mu   sync.Mutex
	take func(net.Conn) // nil while nobody serves
}

// taker sets who gets the connections until the returned function is called.
func (t *taking) taker(take func(net.Conn)) (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.take = take
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.take = nil
	}
}
