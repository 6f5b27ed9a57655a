package supervisor

import (
	"context"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
)

// Ask sends the message made by build and waits for the one answer the actor puts on the channel in it.
// The channel has room for that one, so the actor never blocks. For admin queries and tests, never inside
// an actor. Errors: why the message was lost, at once when it is (ErrGone, ErrCrashed, ...), else the context's.
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
		case v := <-reply: // it was answered, and then the actor died
			return v, nil
		default:
		}
		return none, fmt.Errorf("ask %s: %w", to.Path(), why)
	case <-done: // never for a question that was refused: it is lost by now
		return none, fmt.Errorf("ask %s: %w", to.Path(), context.Cause(ctx))
	}
}

// asker stands for whoever waits in Ask: the sender of the question, as far as protoactor knows.
type asker struct{ lost chan error }

// refused is told that the question was lost.
func (a *asker) refused(why error) {
	select {
	case a.lost <- why:
	default: // once is enough
	}
}

func (a *asker) SendUserMessage(*PID, any)   {}
func (a *asker) SendSystemMessage(*PID, any) {}
func (a *asker) Stop(*PID)                   {}
