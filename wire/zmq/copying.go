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

// zeroCopyRecv is ZMQ_ZERO_COPY_RECV, which the headers show to builds with drafts only; the library knows it in all.
const zeroCopyRecv = 10

var errNoOption = errors.New("this libzmq does not know it")

// copyReceived makes libzmq copy what it receives out of its read buffers. Else a message keeps the whole buffer of 18
// KB for as long as it waits, and every connection touches a page more: 1.7 KB for each of a fleet's connections.
func copyReceived(raw *zmq4.Context) error {
	if C.zmq_ctx_set(handle(raw), zeroCopyRecv, 0) != 0 {
		return fmt.Errorf("set zero copy off: %w", errNoOption)
	}
	return nil
}

// copiesReceived tells whether it does.
func copiesReceived(raw *zmq4.Context) bool { return C.zmq_ctx_get(handle(raw), zeroCopyRecv) == 0 }

// handle is the library's own context, the first field of the binding's, which has no method for this option.
func handle(raw *zmq4.Context) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(raw)) }
