package ipc

import (
	"context"
	"errors"
	"fmt"

	"brine/wire/payload"
)

// RemoteError is the text with which a daemon refused a control request.
type RemoteError struct{ Text string }

func (e *RemoteError) Error() string { return e.Text }

// ControlClient sends requests to a daemon's control socket. Any number of goroutines may use it.
type ControlClient struct{ addr string }

// NewControlClient returns a client for a control socket. It connects for each request.
func NewControlClient(addr string) *ControlClient { return &ControlClient{addr: addr} }

// Do sends a request and returns the reply, which is empty if the daemon has no result. The daemon's own error is a
// *RemoteError. The end of ctx ends the call and cancels the handler's context.
func (c *ControlClient) Do(ctx context.Context, request *payload.Map) (*payload.Map, error) {
	conn, err := Dial(ctx, c.addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	writeErr := writeMessage(conn, request)
	reply, err := readMessage(conn, MaxFrame) // the daemon may have sent a refusal although writing failed
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("ask %s: %w", c.addr, context.Cause(ctx))
		}
		return nil, fmt.Errorf("ask %s: %w", c.addr, errors.Join(writeErr, err))
	}
	if text, ok := reply.Value("error").(string); ok {
		return nil, &RemoteError{text}
	}
	return reply.Map("reply"), nil
}
