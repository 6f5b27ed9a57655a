package ipc

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Pusher writes events to a pull socket. It connects when there is an event to send and keeps the connection. Any
// number of goroutines may use it.
type Pusher struct {
	addr    string
	framing Framing

	pub      string        // the pub socket of the same bus; "" if the framing is known
	patience time.Duration // for the bus to show its framing
	turns    chan struct{} // holds one token while a goroutine writes
	conn     net.Conn
}

// NewPusher returns a Pusher for a pull socket of known framing. All current releases use FramingLength there.
func NewPusher(addr string, f Framing) *Pusher {
	return &Pusher{addr: addr, framing: f, turns: make(chan struct{}, 1)}
}

// NewAskingPusher returns a Pusher that finds out the framing of the pull socket each time it connects. pub is the
// other socket of the bus. If the bus does not show its framing, FramingLength is used.
func NewAskingPusher(pull, pub string) *Pusher {
	p := NewPusher(pull, FramingLength)
	p.pub, p.patience = pub, askPatience
	return p
}

// Push writes one event body. If the other side has closed the connection, Push makes a new one, once. If the bus does
// not read, Push waits until ctx ends.
func (p *Pusher) Push(ctx context.Context, body []byte) error {
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-ctx.Done():
		return fmt.Errorf("push event: %w", context.Cause(ctx))
	}
	if p.conn != nil {
		if p.write(ctx, EncodeFrame(body, p.framing)) == nil {
			return nil
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("push event: %w", context.Cause(ctx))
	}
	if sent, err := p.connect(ctx, body); sent || err != nil {
		return err
	}
	if err := p.write(ctx, EncodeFrame(body, p.framing)); err != nil {
		return fmt.Errorf("push event to %s: %w", p.addr, err)
	}
	return nil
}

// connect makes a connection and reports whether it has already sent the event.
func (p *Pusher) connect(ctx context.Context, body []byte) (sent bool, err error) {
	if p.pub != "" {
		if p.sendPlain(ctx, body) == nil {
			return true, nil
		}
		p.framing = FramingLength
	}
	if p.conn, err = Dial(ctx, p.addr); err != nil {
		return false, fmt.Errorf("push event: %w", err)
	}
	return false, nil
}

// write drops the connection on any error, because part of the frame may have been sent.
func (p *Pusher) write(ctx context.Context, frame []byte) error {
	conn := p.conn
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	_, err := conn.Write(frame)
	if ended := !stop(); ended || err != nil {
		p.drop()
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (p *Pusher) drop() {
	_ = p.conn.Close()
	p.conn = nil
}

// Close drops the connection. A later Push makes a new one.
func (p *Pusher) Close() error {
	p.turns <- struct{}{}
	defer func() { <-p.turns }()
	if p.conn != nil {
		p.drop()
	}
	return nil
}
