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

// batchVersion is the line of libzmq whose sockets setBatches knows.
const batchVersion = "4.3."

// setBatches sets ZMQ_IN_BATCH_SIZE and ZMQ_OUT_BATCH_SIZE of a socket that is neither bound nor connected. libzmq 4.3
// has both as options of sockets, and takes them in builds with drafts only, which no distribution ships. So they are
// set where they lie: two neighbouring numbers with known defaults, and a bool behind them. It tells whether they
// were there, once. Where they are not nothing is changed, and connections take more memory. Only a libzmq inside the
// binary is touched: the one that was tested with it, which no upgrade of the system exchanges.
func setBatches(raw *zmq4.Socket, in, out int) bool {
	if !strings.HasPrefix(LibraryVersion(), batchVersion) {
		return false
	}
	return C.brine_set_batches(*(*unsafe.Pointer)(unsafe.Pointer(raw)), C.int(in), C.int(out)) == 1
}
