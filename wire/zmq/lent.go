package zmq

// #cgo pkg-config: libzmq
// #include "lent.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"github.com/pebbe/zmq4"
)

// AnswerLent is Answer without a copy. libzmq sends directly from the memory of the payload, until the network has all
// of it or the peer has gone.
func (p *peer) AnswerLent(payload []byte, out *atomic.Int32) error {
	bytes := onWire(0) + onWire(len(payload))
	p.account.gave(bytes)
	r := p.router
	err := r.counted(r.sock.sending(func(s *socket) error { return s.sendLent(p.identity, payload, out) }))
	if err != nil {
		p.account.gave(-bytes)
	}
	return err
}

// sendLent sends a payload to a peer directly from its memory. s.mu is held.
func (s *socket) sendLent(peer, payload []byte, out *atomic.Int32) error {
	raw := *(*unsafe.Pointer)(unsafe.Pointer(s.raw)) // the library's own socket, the first field of the binding's
	no := C.brine_send_lent(raw, unsafe.Pointer(unsafe.SliceData(peer)), C.size_t(len(peer)),
		unsafe.Pointer(unsafe.SliceData(payload)), C.size_t(len(payload)), (*C.int)(unsafe.Pointer(out)))
	if no != 0 {
		return zmq4.Errno(no)
	}
	return nil
}
