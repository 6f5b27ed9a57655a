package netapi

import (
	"context"
	"time"

	"brine/supervisor"
	"brine/wire/client"
)

// listenAgain is the pause between two attempts to join the bus of the master.
const listenAgain = time.Second

// noTag begins no tag: who watches it gets no events.
const noTag = "\x00"

// listeningSpec is the child that keeps the client's subscription to the bus open. Without it each command would join
// the bus anew.
func listeningSpec(c *client.Client) supervisor.Spec {
	return supervisor.Spec{Name: "Listening", New: func() supervisor.Actor { return &listening{client: c} }}
}

// listening gets no messages.
type listening struct{ client *client.Client }

func (l *listening) Receive(ctx supervisor.Context) {
	switch ctx.Message().(type) {
	case *supervisor.Started:
		supervisor.Go(ctx, "listening", l.listen)
	default:
		supervisor.Unhandled(ctx)
	}
}

// listen joins the bus and stays there until ctx ends.
func (l *listening) listen(ctx context.Context) error {
	for {
		if stream, err := l.client.Watch(ctx, noTag); err == nil {
			_, err = stream.Next(ctx) // no event comes; a master that goes away is found again by the client
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
