package ipc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// takesBoth is the reply of a PullServer to a sender that ends without sending anything. Real Salt just closes the
// connection.
const takesBoth = "both framings\n"

const (
	askPatience = 3 * time.Second // for a bus to show its framing, once per connection
	quietTurns  = 8               // after so many turns without a publication, a bus has published all that it has read
	mostTurns   = 64              // for a bus that always publishes something
)

var (
	// errBoth means that a bus accepts either framing.
	errBoth = errors.New("ipc: the bus takes both framings")
	// errNotPlain means that the bus has not published an event that was sent without its length.
	errNotPlain = errors.New("ipc: the bus has not published an event without its length")
)

// sendPlain sends the first event of a connection to a bus of unknown framing. It keeps the connection if the bus
// publishes the event.
//
// A bus cannot be asked for its framing, and it does not refuse the wrong one. An event without its length does no
// harm: a bus that expects a length reads the first bytes as a length of two gigabytes, waits for the rest, and
// discards them when the connection ends. But an event with its length would be lost on a bus that expects none, and
// would log an error there. Real Salt serves both sockets in one loop. Each turn makes the loop go round once, so that
// no clock is needed.
func (p *Pusher) sendPlain(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	if err := p.turn(ctx); err != nil {
		return err
	}
	sight, err := watchFor(ctx, p.pub, body)
	if err != nil {
		return err
	}
	defer sight.conn.Close()
	if err := p.turn(ctx); err != nil { // after this turn the bus knows the subscriber
		return err
	}
	if p.conn, err = Dial(ctx, p.addr); err != nil {
		return err
	}
	if err := p.write(ctx, EncodeFrame(body, FramingPlain)); err != nil {
		return err
	}
	if err := p.awaitOut(ctx, sight); err != nil {
		p.drop()
		return err
	}
	p.framing = FramingPlain
	return nil
}

// awaitOut returns nil when the bus has published the event.
func (p *Pusher) awaitOut(ctx context.Context, s *sight) error {
	for quiet, n := 0, 0; quiet < quietTurns && n < mostTurns; n++ {
		if err := p.turn(ctx); err != nil {
			return err
		}
		switch seen, some, err := s.look(); {
		case err != nil:
			return err
		case seen:
			return nil
		case !some:
			quiet++
		}
	}
	return errNotPlain
}

// turn makes a connection without events and waits until the bus has closed it. By then the bus has read everything
// that was sent to it earlier.
func (p *Pusher) turn(ctx context.Context) error {
	conn, err := Dial(ctx, p.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	end, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		return fmt.Errorf("ask %s: %T cannot be closed halfway", p.addr, conn)
	}
	if err := end.CloseWrite(); err != nil {
		return fmt.Errorf("ask %s: %w", p.addr, err)
	}
	says, err := io.ReadAll(io.LimitReader(conn, int64(len(takesBoth))))
	if err != nil {
		return fmt.Errorf("ask %s: %w", p.addr, err)
	}
	if string(says) == takesBoth {
		return errBoth
	}
	return nil
}

// sight looks for one event among all events of a bus.
type sight struct {
	conn net.Conn
	raw  syscall.RawConn
	want []byte
	got  []byte // the last bytes read, fewer than want has
}

func watchFor(ctx context.Context, pub string, body []byte) (*sight, error) {
	conn, err := Dial(ctx, pub)
	if err != nil {
		return nil, err
	}
	s := &sight{conn: conn, want: body}
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("watch %s: %T has no descriptor", pub, conn), conn.Close())
	}
	if s.raw, err = c.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("watch %s: %w", pub, err), conn.Close())
	}
	return s, nil
}

// look reads the bytes that have arrived and never waits for more. It reports whether the event was seen, and whether
// there were any bytes.
func (s *sight) look() (seen, some bool, err error) {
	var failed error
	buf := make([]byte, readBuffer)
	err = s.raw.Read(func(fd uintptr) bool {
		for !seen {
			n, err := unix.Read(int(fd), buf)
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case errors.Is(err, unix.EAGAIN):
				return true
			case err == nil && n == 0:
				err = io.EOF
				fallthrough
			case err != nil:
				failed = fmt.Errorf("look for an event: %w", err)
				return true
			}
			some, seen = true, s.add(buf[:n])
		}
		return true
	})
	return seen, some, errors.Join(err, failed)
}

// add reports whether b completes the event.
func (s *sight) add(b []byte) bool {
	s.got = append(s.got, b...)
	if bytes.Contains(s.got, s.want) {
		return true
	}
	s.got = append(s.got[:0], s.got[max(0, len(s.got)-len(s.want)+1):]...)
	return false
}
