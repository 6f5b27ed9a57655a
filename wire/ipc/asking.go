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

// takesBoth is what a PullServer says to a sender that ends without having sent anything. Real Salt only closes the
// connection then.
const takesBoth = "both framings\n"

const (
	askPatience = 3 * time.Second // for a bus to show what it takes, once for each connection
	quietTurns  = 8               // of a bus that publishes nothing: by then it has published what it has read
	mostTurns   = 64              // of a bus that always publishes something
)

var (
	// errBoth means that a bus takes either framing.
	errBoth = errors.New("ipc: the bus takes both framings")
	// errNotPlain means that an event without its length has not come out of a bus.
	errNotPlain = errors.New("ipc: the bus has not published an event without its length")
)

// sendPlain sends the first event of a connection to a bus of unknown framing, and keeps the connection when the bus
// has published it.
//
// A bus cannot be asked what it takes, and does not refuse what it does not take. Without its length an event does no
// harm: who wants a length takes the first bytes for one of two gigabytes, waits for the rest, and forgets them
// with the connection. With a length it would be lost on who wants none, and an error in the log there.
// Real Salt serves both sockets in one loop. Each turn makes it go round, so that no clock is needed.
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
	if err := p.turn(ctx); err != nil { // from here on the bus knows the subscriber
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

// awaitOut returns nil when the event has come out of the bus.
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

// turn makes a connection without events and waits until the bus has closed it. By then the bus has read what was
// sent to it before.
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

// sight looks for one event among all that a bus publishes.
type sight struct {
	conn net.Conn
	raw  syscall.RawConn
	want []byte
	got  []byte // the end of what was read, shorter than want
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

// look reads what is there now and never waits for more. It reports whether the event was seen, and whether anything
// was there.
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

// add reports whether what came ends the event.
func (s *sight) add(b []byte) bool {
	s.got = append(s.got, b...)
	if bytes.Contains(s.got, s.want) {
		return true
	}
	s.got = append(s.got[:0], s.got[max(0, len(s.got)-len(s.want)+1):]...)
	return false
}
