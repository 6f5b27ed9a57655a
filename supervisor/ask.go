package supervisor

import (
	"context"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// Ask sends the message that build makes, and waits for the one answer that the actor puts on the channel in it. The
// channel has space for that answer, so the actor never blocks. Ask is for admin queries and tests; never call it
// inside an actor. Errors: the reason why the message was lost, as soon as it is lost (ErrGone, ErrCrashed, ...), else
// the context's error.
func Ask[T any](ctx context.Context, to *Ref, build func(reply chan<- T) any) (T, error) {
	var none T
	reply := make(chan T, 1)
	a := &asker{lost: make(chan error, 1)}
	pid := register(to.sup.system, a, to.path+"/ask"+to.sup.system.ProcessRegistry.NextId())
	defer to.sup.system.ProcessRegistry.Remove(pid)
	var done <-chan struct{}
	if to.Send(&actor.MessageEnvelope{Message: build(reply), Sender: pid}) {
		done = ctx.Done()
	}
	select {
	case v := <-reply:
		return v, nil
	case why := <-a.lost:
		select {
		case v := <-reply: // the actor answered and then died
			return v, nil
		default:
		}
		return none, fmt.Errorf("ask %s: %w", to.Path(), why)
	case <-done: // nil if the message was refused: then the reason is in a.lost
		return none, fmt.Errorf("ask %s: %w", to.Path(), context.Cause(ctx))
	}
}

// asker is the sender of the question for protoactor. It represents the caller of Ask.
type asker struct{ lost chan error }

// refused records that the question was lost.
func (a *asker) refused(why error) {
	select {
	case a.lost <- why:
	default: // the first reason is enough
	}
}

func (a *asker) SendUserMessage(*PID, any)   {}
func (a *asker) SendSystemMessage(*PID, any) {}
func (a *asker) Stop(*PID)                   {}
