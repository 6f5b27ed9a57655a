package websocket

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// pieceMost is how much is written at once.
	pieceMost = 64 << 10
	// lastWord is how long a close frame may take.
	lastWord = time.Second
	// bytesSecond is what a client may send in a second: frames without bytes are not seen elsewhere.
	bytesSecond = 2 * MessageMax
)

var errFlood = fmt.Errorf("websocket: more than %d frames or %d bytes in a second", framesSecond, bytesSecond)

// line is the connection below a websocket. It gathers what is written while it has room for it, gives each piece its
// own time, and ends floods.
type line struct {
	net.Conn
	ending atomic.Bool // nobody waits for the client any more

	second time.Time // in which bytes were read; only its reader looks at them
	bytes  int

	mu   sync.Mutex // of writing
	room *[]byte    // what is gathered; nil: it is written at once
}

// NetConn is the connection itself.
func (l *line) NetConn() net.Conn { return l.Conn }

// Read reads, within the bounds of floods.
func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if now := time.Now(); now.Sub(l.second) >= time.Second {
		l.second, l.bytes = now, 0
	}
	if l.bytes += n; l.bytes > bytesSecond {
		return 0, errFlood
	}
	return n, err
}

// SetWriteDeadline does nothing: each piece has its own.
func (l *line) SetWriteDeadline(time.Time) error { return nil }

// Write writes, or gathers.
func (l *line) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.room == nil {
		return l.push(p)
	}
	*l.room = append(*l.room, p...)
	if len(*l.room) < pieceMost {
		return len(p), nil
	}
	return len(p), l.flush()
}

// gather has what is written from now on gathered in room.
func (l *line) gather(room *[]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*room = (*room)[:0]
	l.room = room
}

// release writes what was gathered, and gives the room back.
func (l *line) release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.flush()
	l.room = nil
	return err
}

func (l *line) flush() error {
	_, err := l.push(*l.room)
	*l.room = (*l.room)[:0]
	return err
}

// push writes piece by piece; each has its own time, so that a slow line can take a big message.
func (l *line) push(p []byte) (sent int, err error) {
	for sent < len(p) {
		patience := WriteTimeout
		if l.ending.Load() {
			patience = lastWord
		}
		if err := l.Conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return sent, err
		}
		n, err := l.Conn.Write(p[sent:min(len(p), sent+pieceMost)])
		if sent += n; err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// end has nobody wait for the client any more.
func (l *line) end() {
	l.ending.Store(true)
	_ = l.Conn.SetWriteDeadline(time.Now().Add(lastWord)) // what is being written ends as well
}
