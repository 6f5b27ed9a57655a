package zmq

// #cgo pkg-config: libzmq
// #include <errno.h>
// #include <stdlib.h>
// #include <zmq.h>
//
// typedef struct {
//	zmq_msg_t msg;
//	void *data;
//	size_t size;
//	int more, fd;
//	const char *peer;
// } brine_frame;
//
// static brine_frame *brine_frame_new(void) {
//	brine_frame *f = calloc(1, sizeof *f);
//	if (f != NULL)
//		zmq_msg_init(&f->msg);
//	return f;
// }
//
// static void brine_frame_free(brine_frame *f) {
//	zmq_msg_close(&f->msg);
//	free(f);
// }
//
// // brine_receive reads one frame without waiting. It returns 0, or the number of an error.
// static int brine_receive(void *socket, brine_frame *f, int origin) {
//	while (zmq_msg_recv(&f->msg, socket, ZMQ_DONTWAIT) < 0)
//		if (zmq_errno() != EINTR)
//			return zmq_errno();
//	f->data = zmq_msg_data(&f->msg);
//	f->size = zmq_msg_size(&f->msg);
//	f->more = zmq_msg_more(&f->msg);
//	f->fd = -1;
//	f->peer = NULL;
//	if (origin && !f->more) {
//		f->fd = zmq_msg_get(&f->msg, ZMQ_SRCFD);
//		f->peer = zmq_msg_gets(&f->msg, "Peer-Address");
//	}
//	return 0;
// }
//
// // brine_release lets the memory of the last frame go.
// static void brine_release(brine_frame *f) {
//	zmq_msg_close(&f->msg);
//	zmq_msg_init(&f->msg);
// }
import "C"

import (
	"errors"
	"unsafe"

	"github.com/pebbe/zmq4"
)

// keptFrame is the largest size at which a frame's memory is kept until the next frame replaces it.
const keptFrame = 4096

// origin is the source of a message.
type origin struct {
	fd      int      // descriptor of the connection, -1 if unknown
	peer    string   // address, "" if unknown
	account *account // of the connection; nil without a tally
}

// receiver reads frames of one socket with one library call each. Its memory is C's: the maker must free it.
type receiver struct {
	frame *C.brine_frame
	peers []string // addresses by descriptor, so that a known address needs no new memory
	room  []byte   // memory for the next large frame, if it fits; nil: each frame gets a slice of its own
}

func newReceiver() (*receiver, error) {
	f := C.brine_frame_new()
	if f == nil {
		return nil, errors.New("make receiver: no memory")
	}
	return &receiver{frame: f}, nil
}

func (r *receiver) free() { C.brine_frame_free(r.frame) }

// read takes one frame of a socket, as a slice of its own or in room. With ask, and for the last frame of a message,
// from is the source of the message.
func (r *receiver) read(raw *zmq4.Socket, ask bool) (frame []byte, more bool, from origin, err error) {
	origins := C.int(0)
	if ask {
		origins = 1
	}
	if code := C.brine_receive(socketHandle(raw), r.frame, origins); code != 0 {
		return nil, false, from, zmq4.Errno(code)
	}
	f := r.frame
	if size := int(f.size); size > keptFrame && size <= cap(r.room) {
		frame, r.room = r.room[:size], nil
	} else {
		frame = make([]byte, size)
	}
	copy(frame, unsafe.Slice((*byte)(f.data), int(f.size)))
	more = f.more != 0
	if ask && !more {
		from = origin{fd: int(f.fd), peer: r.address(int(f.fd), f.peer)}
	}
	if len(frame) > keptFrame {
		C.brine_release(f)
	}
	return frame, more, from, nil
}

// maxPeers limits the descriptors whose addresses are kept.
const maxPeers = 1 << 17

// address makes a Go string of an address of the library.
func (r *receiver) address(fd int, text *C.char) string {
	if text == nil {
		return ""
	}
	n := 0
	for p := (*byte)(unsafe.Pointer(text)); *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0; n++ {
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(text)), n)
	if fd < 0 || fd >= maxPeers {
		return string(b)
	}
	for fd >= len(r.peers) {
		r.peers = append(r.peers, "")
	}
	if r.peers[fd] != string(b) {
		r.peers[fd] = string(b)
	}
	return r.peers[fd]
}

// socketHandle is the library's own socket, the first field of the binding's.
func socketHandle(raw *zmq4.Socket) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(raw)) }
