package attack

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"brine/cmd/tooltest"
)

// dealer is the raw greeting of a DEALER. The delimiter begins a request.
var dealer = greeting + "\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"

const (
	delimiter = "\x01\x00"
	longFrame = 0x02
)

// frameHead announces a long frame.
func frameHead(flags byte, size int) []byte {
	return binary.BigEndian.AppendUint64([]byte{flags}, uint64(size))
}

// send writes until the other side closes the connection.
func send(c net.Conn, parts ...[]byte) error {
	for _, p := range parts {
		if _, err := c.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// greeted is a connection after the other side's greeting, because earlier bytes are no message yet.
func (s *site) greeted() net.Conn {
	s.t.Helper()
	c := s.raw(s.ret)
	_ = c.SetDeadline(time.Now().Add(patience))
	s.greet(c)
	return c
}

// greet sends the greeting of a DEALER, and waits for the greeting of the other side.
func (s *site) greet(c net.Conn) {
	s.t.Helper()
	if err := send(c, []byte(dealer)); err != nil {
		s.t.Fatal(err)
	}
	answer := make([]byte, len(greeting)+2)
	if _, err := io.ReadFull(c, answer); err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, answer[len(greeting)+1])); err != nil {
		s.t.Fatal(err)
	}
}

// half opens n connections. Each announces a request of size bytes and sends a part of it.
func (s *site) half(n, size, part int) {
	s.t.Helper()
	chunk := make([]byte, 1<<20)
	var busy sync.WaitGroup
	for range n {
		c := s.greeted()
		busy.Go(func() {
			if send(c, []byte(delimiter), frameHead(longFrame, size)) != nil {
				return
			}
			for sent := 0; sent < part; sent += len(chunk) {
				if send(c, chunk) != nil {
					return
				}
			}
		})
	}
	busy.Wait()
}

// holds checks that the master's memory falls below a limit in time.
func (s *site) holds(what string, most int64) {
	s.t.Helper()
	s.eventually("the memory of the master after "+what, func() error {
		rss, err := s.master.rss()
		if err == nil && rss > most {
			err = fmt.Errorf("it takes %d MiB", rss>>20)
		}
		if err == nil {
			s.t.Logf("%s: %d MiB", what, rss>>20)
		}
		return err
	})
}

// TestHalfSent: incomplete requests cause no other request to be dropped. They count with the bytes that have
// arrived, and not with their announced size.
func TestHalfSent(t *testing.T) {
	if tooltest.Race {
		t.Skip("the race detector's own memory is no part of what is measured")
	}
	s := newSite(t, "")
	s.half(2, 127<<20, 126<<20)
	s.good()
	s.half(100, 255<<20, 1<<20)
	s.good()
	s.holds("two halves, and a hundred announced", 768<<20)
	s.good()
}
