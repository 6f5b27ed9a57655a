//go:build staticzmq && cgo

package zmq

// #cgo pkg-config: libzmq
// #include "batches.h"
import "C"

import (
	"strings"
	"unsafe"

	"github.com/pebbe/zmq4"
)

// batchVersion is the version of libzmq whose sockets setBatches knows.
const batchVersion = "4.3."

// setBatches sets ZMQ_IN_BATCH_SIZE and ZMQ_OUT_BATCH_SIZE of a socket that is neither bound nor connected. libzmq 4.3
// has both as socket options, but accepts them only in builds with drafts, which no distribution ships. So setBatches
// writes them directly into the socket's memory: two neighbouring numbers with known defaults, followed by a bool. It
// returns whether it found them exactly once. Otherwise it changes nothing, and connections take more memory. It
// touches only the libzmq inside the binary: the version that was tested with it, which no system upgrade replaces.
func setBatches(raw *zmq4.Socket, in, out int) bool {
	if !strings.HasPrefix(LibraryVersion(), batchVersion) {
		return false
	}
	return C.brine_set_batches(*(*unsafe.Pointer)(unsafe.Pointer(raw)), C.int(in), C.int(out)) == 1
}
