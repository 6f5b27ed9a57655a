package client

import (
	"context"
	"io"
	"strings"
	"sync"
)

// Watch opens a stream of the events whose tags begin with prefix. It uses the subscription that this client's jobs
// share.
func (c *Client) Watch(ctx context.Context, prefix string) (Events, error) {
	s, err := c.listen(ctx, func(tag string) bool { return strings.HasPrefix(tag, prefix) })
	if err != nil {
		return nil, err
	}
	return &watch{stream: s, ended: make(chan struct{})}, nil
}

// watch is a stream that one goroutine reads body by body.
type watch struct {
	*stream
	rest  [][]byte
	ended chan struct{}
	once  sync.Once
}

// Next waits for the next body.
func (w *watch) Next(ctx context.Context) ([]byte, error) {
	for len(w.rest) == 0 {
		select {
		case <-w.more:
			w.rest = w.take()
		case <-w.ended:
			return nil, io.ErrClosedPipe
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	body := w.rest[0]
	w.rest = w.rest[1:]
	return body, nil
}

// Close ends the stream.
func (w *watch) Close() error {
	w.once.Do(func() {
		close(w.ended)
		w.close()
	})
	return nil
}
