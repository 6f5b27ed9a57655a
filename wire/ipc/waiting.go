package ipc

import (
	"net"
	"sync"
)

// taking is the function that receives the connections of a listening socket.
type taking struct {
	mu   sync.Mutex
	take func(net.Conn) // nil while no server runs
}

// taker sets that function, until the returned function is called.
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
