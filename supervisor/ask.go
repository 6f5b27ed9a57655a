package supervisor

import (
	"context"
	"fmt"
)

// Ask sends the message made by build and waits for the one answer the actor puts on the channel in it.
// The channel has room for that one, so the actor never blocks. For admin queries and tests, never inside
// an actor. Errors: ErrGone when the message was refused at once, else the context's.
func Ask[T any](ctx context.Context, to *Ref, build func(reply chan<- T) any) (T, error) {
	var none T
	reply := make(chan T, 1)
	if !to.Send(build(reply)) {
		return none, fmt.Errorf("ask %s: %w", to.Path(), ErrGone)
	}
	select {
	case v := <-reply:
		return v, nil
	case <-ctx.Done():
		return none, fmt.Errorf("ask %s: %w", to.Path(), context.Cause(ctx))
	}
}
