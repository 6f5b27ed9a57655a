package ipc

import (
	"context"
	"fmt"
	"net"
)

// Pusher writes events to a pull socket. It connects when there is something to send, keeps the connection,
// and may be used by any number of goroutines.
type Pusher struct {
	addr    string
	framing Framing
	turn    chan struct{} // holds one token while somebody writes
	conn    net.Conn
}

// NewPusher returns a Pusher for a pull socket. All current releases want FramingLength there.
func NewPusher(addr string, f Framing) *Pusher {
	return &Pusher{addr: addr, framing: f, turn: make(chan struct{}, 1)}
}

// Push writes one event body. A connection that the other side has closed meanwhile is made anew, once. A bus
// that does not read makes Push wait until ctx ends.
func (p *Pusher) Push(ctx context.Context, body []byte) error {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return fmt.Errorf("push event: %w", context.Cause(ctx))
	}
	frame := EncodeFrame(body, p.framing)
	if p.conn != nil {
		if p.write(ctx, frame) == nil {
			return nil
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("push event: %w", context.Cause(ctx))
	}
	conn, err := Dial(ctx, p.addr)
	if err != nil {
		return fmt.Errorf("push event: %w", err)
	}
	p.conn = conn
	if err := p.write(ctx, frame); err != nil {
		return fmt.Errorf("push event to %s: %w", p.addr, err)
	}
	return nil
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
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	if p.conn != nil {
		p.drop()
	}
	return nil
}
