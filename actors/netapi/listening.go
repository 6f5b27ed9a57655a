package netapi

import (
	"context"
	"time"

	"brine/supervisor"
	"brine/wire/client"
)

// listenAgain is the pause between two attempts to connect to the master's bus.
const listenAgain = time.Second

// noTag is the beginning of no tag, so its subscriber gets no events.
const noTag = "\x00"

// listeningSpec is the spec of the child that keeps the client's subscription to the bus open. Otherwise each
// command would connect to the bus again.
func listeningSpec(c *client.Client) supervisor.Spec {
	return supervisor.Spec{Name: "Listening", New: func() supervisor.Actor { return &listening{client: c} }}
}

// listening keeps the subscription open. It gets no messages.
type listening struct{ client *client.Client }

func (l *listening) Receive(ctx supervisor.Context) {
	switch ctx.Message().(type) {
	case *supervisor.Started:
		supervisor.Go(ctx, "listening", l.listen)
	default:
		supervisor.Unhandled(ctx)
	}
}

// listen connects to the bus and stays connected until ctx ends.
func (l *listening) listen(ctx context.Context) error {
	for {
		if stream, err := l.client.Watch(ctx, noTag); err == nil {
			_, err = stream.Next(ctx) // no event arrives; the client reconnects to a restarted master
			_ = stream.Close()
			if ctx.Err() != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(listenAgain):
		}
	}
}
