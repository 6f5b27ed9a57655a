package ipc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"brine/wire/payload"
)

// Framing is the form of frames on an event socket. A frame is the msgpack map {head: {}, body: <event>}.
type Framing int

const (
	// FramingPlain has frames back to back. It is used by the pub sockets of 3006.0 to 3006.19, 3007 and 3008, and by
	// the pull sockets of 3006.0 to 3006.19 and early 3007.
	FramingPlain Framing = iota
	// FramingLength has four bytes of length, big endian, before every frame. It is used by all pull sockets of current
	// releases, and by the pub socket of late 3006.
	FramingLength
	// FramingDetect is for readers only: the first byte of a stream shows its framing.
	FramingDetect
)

// MaxFrame is the size of the largest frame that is read, in bytes.
const MaxFrame = payload.MaxFrame

const (
	lengthSize   = 4
	readBuffer   = 16 << 10 // bytes that a Reader requests at once
	firstClaim   = 64 << 10 // bytes of a body that are allocated before they arrive
	maxPairs     = 16       // in the map of a frame
	maxKey       = 255      // bytes of a key of that map
	maxHeadDepth = 16       // nesting inside the head of a frame
)

// frameHead is everything in a frame before the header of the body: a map of two, "head", an empty map, "body".
const frameHead = "\x82\xa4head\x80\xa4body"

// ErrFrame means that a stream does not hold frames, or that a frame is too big. The stream is then useless.
var ErrFrame = errors.New("ipc: malformed frame")

// EncodeFrame makes the frame of an event body. FramingDetect means FramingPlain here.
func EncodeFrame(body []byte, f Framing) []byte {
	out := make([]byte, 0, lengthSize+len(frameHead)+5+len(body))
	if f == FramingLength {
		size := len(frameHead) + binHeaderSize(len(body)) + len(body)
		out = binary.BigEndian.AppendUint32(out, uint32(size))
	}
	out = append(out, frameHead...)
	switch n := len(body); binHeaderSize(n) {
	case 2:
		out = append(out, 0xc4, byte(n))
	case 3:
		out = append(out, 0xc5, byte(n>>8), byte(n))
	default:
		out = append(out, 0xc6, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(out, body...)
}

func binHeaderSize(n int) int {
	switch {
	case n <= 0xff:
		return 2
	case n <= 0xffff:
		return 3
	}
	return 5
}

// Reader reads the bodies of frames from a stream.
type Reader struct {
	r       *bufio.Reader
	framing Framing
	left    int64 // bytes that the current frame may still have
}

// NewReader returns a Reader. With FramingDetect the first byte decides for the whole stream.
func NewReader(r io.Reader, f Framing) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, readBuffer), framing: f}
}

// Next returns the body of the next frame in a slice of its own. At the end of the stream the error is io.EOF between
// two frames, and io.ErrUnexpectedEOF inside one. It is ErrFrame if the bytes are not a frame. After an error the
// stream is useless.
func (r *Reader) Next() ([]byte, error) {
	first, err := r.r.Peek(1)
	if err != nil {
		return nil, err
	}
	if r.framing == FramingDetect {
		r.framing = detect(first[0])
	}
	body, err := r.frame()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return body, err
}

// detect recognizes a frame by its first byte, that of a map. The first byte of a length up to MaxFrame is much lower.
func detect(first byte) Framing {
	if first <= MaxFrame>>24 {
		return FramingLength
	}
	return FramingPlain
}

func (r *Reader) frame() ([]byte, error) {
	r.left = MaxFrame
	if r.framing != FramingLength {
		return r.mapping()
	}
	r.left = lengthSize
	size, err := r.number(lengthSize)
	if err != nil {
		return nil, err
	}
	if size > MaxFrame {
		return nil, fmt.Errorf("%w: of %d bytes", ErrFrame, size)
	}
	r.left = int64(size)
	body, err := r.mapping()
	if err == nil && r.left != 0 {
		err = fmt.Errorf("%w: shorter than its length", ErrFrame)
	}
	return body, err
}

// mapping reads the map of a frame and returns the value of "body".
func (r *Reader) mapping() ([]byte, error) {
	pairs, err := r.pairs()
	if err != nil {
		return nil, err
	}
	var body []byte
	for range pairs {
		isBody, err := r.key()
		switch {
		case err != nil:
		case !isBody:
			err = r.skip(0)
		case body != nil:
			err = fmt.Errorf("%w: two bodies", ErrFrame)
		default:
			body, err = r.text()
		}
		if err != nil {
			return nil, err
		}
	}
	if body == nil {
		return nil, fmt.Errorf("%w: no body", ErrFrame)
	}
	return body, nil
}

func (r *Reader) pairs() (int, error) {
	lead, err := r.byte()
	if err != nil {
		return 0, err
	}
	n := uint64(lead & 0x0f)
	switch {
	case lead&0xf0 == 0x80:
	case lead == 0xde:
		n, err = r.number(2)
	default:
		return 0, fmt.Errorf("%w: starts with 0x%02x", ErrFrame, lead)
	}
	if n > maxPairs {
		return 0, fmt.Errorf("%w: %d fields", ErrFrame, n)
	}
	return int(n), err
}

// key reads a key of the frame's map and reports whether it is "body".
func (r *Reader) key() (bool, error) {
	n, err := r.textSize()
	if err != nil {
		return false, err
	}
	if n > maxKey {
		return false, fmt.Errorf("%w: a key of %d bytes", ErrFrame, n)
	}
	key, err := r.r.Peek(n)
	if err != nil {
		return false, err
	}
	isBody := string(key) == "body"
	_, err = r.r.Discard(n)
	return isBody, err
}

// text reads a string. Without an error the result is not nil.
func (r *Reader) text() ([]byte, error) {
	n, err := r.textSize()
	if err != nil {
		return nil, err
	}
	return readAll(r.r, n)
}

// textSize reads the header of a string of raw or bin type and claims its bytes.
func (r *Reader) textSize() (int, error) {
	lead, err := r.byte()
	if err != nil {
		return 0, err
	}
	n := uint64(lead & 0x1f)
	switch {
	case lead&0xe0 == 0xa0:
	case lead == 0xc4, lead == 0xd9:
		n, err = r.number(1)
	case lead == 0xc5, lead == 0xda:
		n, err = r.number(2)
	case lead == 0xc6, lead == 0xdb:
		n, err = r.number(4)
	default:
		return 0, fmt.Errorf("%w: 0x%02x where a string should be", ErrFrame, lead)
	}
	if err != nil {
		return 0, err
	}
	return int(n), r.claim(n)
}

// claim subtracts n bytes from the rest of the frame.
func (r *Reader) claim(n uint64) error {
	if n > uint64(r.left) {
		return fmt.Errorf("%w: content longer than the frame", ErrFrame)
	}
	r.left -= int64(n)
	return nil
}

func (r *Reader) byte() (byte, error) {
	if err := r.claim(1); err != nil {
		return 0, err
	}
	return r.r.ReadByte()
}

func (r *Reader) number(width int) (uint64, error) {
	var n uint64
	for range width {
		b, err := r.byte()
		if err != nil {
			return 0, err
		}
		n = n<<8 | uint64(b)
	}
	return n, nil
}

// readAll reads n bytes. Its memory grows with the bytes that arrive, not with n.
func readAll(r io.Reader, n int) ([]byte, error) {
	buf := make([]byte, 0, min(n, firstClaim))
	for len(buf) < n {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(n, 2*cap(buf)))
			copy(grown, buf)
			buf = grown
		}
		m, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+m]
		if err != nil {
			return nil, err
		}
	}
	return buf, nil
}
