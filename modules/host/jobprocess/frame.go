package jobprocess

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"brine/wire/payload"
)

// Kinds of messages, the first element of each list.
const (
	msgStart  = "start"  // to the process: its job
	msgAnswer = "answer" // to the process: id, value, text of the error, kind of the error
	msgCall   = "call"   // from the process: id (0: no answer is wanted), method, arguments
	msgCancel = "cancel" // from the process: id of a call whose answer nobody waits for any more
	msgReturn = "return" // from the process: the return, NoReturn, Crashed
)

// maxFrame bounds one message in bytes; a longer one is a broken stream. Both ends are this program.
const maxFrame = 1 << 30

var errStream = errors.New("jobprocess: broken stream")

// stream sends and receives messages: four bytes of length, most significant first, and a msgpack list.
type stream struct {
	r io.Reader
	w io.Writer

	mu sync.Mutex // of sending
}

func newStream(conn io.ReadWriter) *stream { return &stream{r: bufio.NewReader(conn), w: conn} }

func (s *stream) send(kind string, fields ...any) error {
	b, err := payload.AppendBin(make([]byte, 4, 512), append([]any{kind}, fields...))
	if err != nil {
		return fmt.Errorf("pack a message: %w", err)
	}
	if len(b)-4 > maxFrame {
		return fmt.Errorf("pack a message: %d bytes are too many", len(b))
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.w.Write(b); err != nil {
		return fmt.Errorf("send a message: %w", err)
	}
	return nil
}

// next reads one message. At the end of the stream it is io.EOF.
func (s *stream) next() (kind string, fields []any, err error) {
	var head [4]byte
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return "", nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxFrame {
		return "", nil, fmt.Errorf("%w: a message of %d bytes", errStream, size)
	}
	// Room is claimed for what has come, not for what is announced.
	b := bytes.NewBuffer(make([]byte, 0, min(size, 64<<10)))
	if _, err := io.CopyN(b, s.r, int64(size)); err != nil {
		return "", nil, err
	}
	v, err := payload.UnmarshalBin(b.Bytes())
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", errStream, err)
	}
	list, _ := v.([]any)
	if len(list) > 0 {
		kind, _ = list[0].(string)
	}
	if kind == "" {
		return "", nil, fmt.Errorf("%w: no message", errStream)
	}
	return kind, list[1:], nil
}

// field is the n-th field of a message, the zero value when it is absent or of another type.
func field[T any](m []any, n int) (v T) {
	if n < len(m) {
		v, _ = m[n].(T)
	}
	return v
}
