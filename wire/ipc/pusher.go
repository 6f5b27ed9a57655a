package ipc

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Pusher writes events to a pull socket. It connects when there is something to send, keeps the connection,
// and may be used by any number of goroutines.
type Pusher struct {
	addr    string
	framing Framing

	pub      string        // the pub socket of the same bus; "" when the framing is known
	patience time.Duration // for the bus to show it
	turns    chan struct{} // holds one token while somebody writes
	conn     net.Conn
}

// NewPusher returns a Pusher for a pull socket of known framing. All current releases want FramingLength there.
func NewPusher(addr string, f Framing) *Pusher {
	return &Pusher{addr: addr, framing: f, turns: make(chan struct{}, 1)}
}

// NewAskingPusher returns a Pusher that finds out what the pull socket takes, each time it connects. pub is the other
// socket of the bus. When the bus does not show it, FramingLength is used.
func NewAskingPusher(pull, pub string) *Pusher {
	p := NewPusher(pull, FramingLength)
	p.pub, p.patience = pub, askPatience
	return p
}

// Push writes one event body. A connection that the other side has closed meanwhile is made anew, once. A bus
// that does not read makes Push wait until ctx ends.
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

// connect makes a connection and reports whether the event has gone out with it.
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

// write gives up the connection on any error, for part of the frame may be on its way.
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

// Close gives up the connection. A later Push makes a new one.
func (p *Pusher) Close() error {
	p.turns <- struct{}{}
	defer func() { <-p.turns }()
	if p.conn != nil {
		p.drop()
	}
	return nil
}
