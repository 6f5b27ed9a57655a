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

// keptFrame is the size up to which the memory of a frame is kept until the next one takes its place.
const keptFrame = 4096

// origin is where a message came from.
type origin struct {
	fd      int      // descriptor of the connection, -1 when it is not known
	peer    string   // address, "" when it is not known
	account *account // of the connection; nil when nobody counts
}

// receiver reads frames of one socket, in one call of the library each. Its memory is not Go's: whoever makes it frees
// it.
type receiver struct {
	frame *C.brine_frame
	peers []string // address by descriptor, so that one that is known takes no memory
	room  []byte   // where the next large frame goes, if it fits; nil: each is a slice of its own
}

func newReceiver() (*receiver, error) {
	f := C.brine_frame_new()
	if f == nil {
		return nil, errors.New("make receiver: no memory")
	}
	return &receiver{frame: f}, nil
}

func (r *receiver) free() { C.brine_frame_free(r.frame) }

// read takes one frame of a socket, as a slice of its own or in room. from is where the message came from when it was
// asked for and the frame is the last.
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

// maxPeers bounds the descriptors whose addresses are kept.
const maxPeers = 1 << 17

// address is a text of the library's as one of ours.
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
