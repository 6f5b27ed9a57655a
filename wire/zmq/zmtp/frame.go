package zmtp

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrProtocol means that a peer does not speak ZMTP 3, or speaks it wrongly. Its connection is closed.
var ErrProtocol = errors.New("zmtp: protocol error")

// Flags of a frame; all others are reserved and must be zero.
const (
	flagMore    = 1 // the message has a further frame
	flagLong    = 2 // the size takes eight bytes instead of one
	flagCommand = 4 // for the protocol itself, not for the socket
)

// firstAlloc is how much is set aside for a frame before its bytes have come; after that it grows with them.
const firstAlloc = 64 << 10

// AppendMessage appends the frames of one message as they stand on the wire.
func AppendMessage(dst []byte, frames ...[]byte) []byte {
	for i, body := range frames {
		var flags byte
		if i < len(frames)-1 {
			flags = flagMore
		}
		dst = appendFrame(dst, flags, body)
	}
	return dst
}

// Size is the number of bytes AppendMessage appends.
func Size(frames ...[]byte) int {
	n := 0
	for _, body := range frames {
		n += len(body) + 2
		if len(body) > 255 {
			n += 7
		}
	}
	return n
}

// appendFrame appends
//
//	flags (1 byte) | size (1 byte, or 8 big endian with flagLong) | body
func appendFrame(dst []byte, flags byte, body []byte) []byte {
	if len(body) > 255 {
		dst = append(dst, flags|flagLong)
		dst = binary.BigEndian.AppendUint64(dst, uint64(len(body)))
	} else {
		dst = append(dst, flags, byte(len(body)))
	}
	return append(dst, body...)
}

// frameReader cuts a stream into frames. It keeps the frame that is not complete yet and nothing else.
type frameReader struct {
	limit int // of a body, in bytes
	head  [9]byte
	have  int    // bytes in head
	body  []byte // what has come of the body
	left  int    // bytes of the body still to come
	flags byte
	inner bool // the head is complete
}

// feed takes the next bytes of the stream, which it does not keep, and hands each frame to sink, which owns
// the body.
func (r *frameReader) feed(b []byte, sink func(flags byte, body []byte) error) error {
	for len(b) > 0 {
		if !r.inner {
			var err error
			if b, err = r.readHead(b); err != nil {
				return err
			}
			if !r.inner {
				return nil
			}
		}
		n := min(r.left, len(b))
		if r.body == nil && r.left > 0 {
			r.body = make([]byte, 0, min(r.left, max(n, firstAlloc)))
		}
		r.body = append(r.body, b[:n]...)
		b, r.left = b[n:], r.left-n
		if r.left > 0 {
			return nil
		}
		body := r.body
		r.body, r.inner, r.have = nil, false, 0
		if err := sink(r.flags, body); err != nil {
			return err
		}
	}
	return nil
}

// readHead takes the bytes of a head. A frame without a body is complete with it, so the caller goes on even
// when nothing is left.
func (r *frameReader) readHead(b []byte) ([]byte, error) {
	for len(b) > 0 && r.have < r.headSize() {
		r.head[r.have] = b[0]
		r.have++
		b = b[1:]
	}
	if r.have < r.headSize() {
		return b, nil
	}
	r.flags = r.head[0]
	if r.flags&^(flagMore|flagLong|flagCommand) != 0 || r.flags&flagCommand != 0 && r.flags&flagMore != 0 {
		return nil, fmt.Errorf("%w: flags %#x", ErrProtocol, r.flags)
	}
	size := uint64(r.head[1])
	if r.flags&flagLong != 0 {
		size = binary.BigEndian.Uint64(r.head[1:])
	}
	if size > uint64(r.limit) {
		return nil, fmt.Errorf("%w: frame of %d bytes", ErrProtocol, size)
	}
	r.left, r.inner = int(size), true
	return b, nil
}

func (r *frameReader) headSize() int {
	if r.have > 0 && r.head[0]&flagLong != 0 {
		return 9
	}
	return 2
}
