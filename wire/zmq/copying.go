package zmq

// #cgo pkg-config: libzmq
// #include <zmq.h>
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/pebbe/zmq4"
)

// zeroCopyRecv is ZMQ_ZERO_COPY_RECV. The headers define it only for builds with drafts, but every build knows it.
const zeroCopyRecv = 10

var errNoOption = errors.New("this libzmq does not know it")

// copyReceived makes libzmq copy received messages out of its read buffers. Otherwise a waiting message keeps the whole
// buffer of 18 KB alive, and every connection touches one more page: 1.7 KB for each connection of a fleet.
func copyReceived(raw *zmq4.Context) error {
	if C.zmq_ctx_set(handle(raw), zeroCopyRecv, 0) != 0 {
		return fmt.Errorf("set zero copy off: %w", errNoOption)
	}
	return nil
}

// copiesReceived tells whether copyReceived took effect.
func copiesReceived(raw *zmq4.Context) bool { return C.zmq_ctx_get(handle(raw), zeroCopyRecv) == 0 }

// handle is the library's own context, the first field of the binding's. The binding has no method for this option.
func handle(raw *zmq4.Context) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(raw)) }
