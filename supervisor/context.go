package supervisor

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"
)

// The functions below are for use inside Receive. If no supervisor started the actor, they do something harmless, which
// the comments name as "Unsupervised".

// Lifetime is the context of this incarnation. It is cancelled before the actor gets Stopping, and as soon as it dies.
// Unsupervised: Background.
func Lifetime(ctx Context) context.Context {
	if inc := of(ctx); inc != nil {
		return inc.ctx
	}
	return context.Background()
}

// Self is the actor's own Ref, valid over its restarts. Unsupervised: nil.
func Self(ctx Context) *Ref {
	if inc := of(ctx); inc != nil {
		return inc.ref
	}
	return nil
}

// Of is the supervisor of the actor. Unsupervised: nil.
func Of(ctx Context) *Supervisor {
	if inc := of(ctx); inc != nil {
		return inc.sup
	}
	return nil
}

// Incarnation is the number of the incarnation, from 1. Unsupervised: 1.
func Incarnation(ctx Context) int {
	if inc := of(ctx); inc != nil {
		return inc.n
	}
	return 1
}

// Nest makes the supervisor of a subtree that this incarnation owns. The owner's death stops the whole subtree; only
// after that does the next owner start (and build its own). When the owner is stopped, its subtree stops first, while
// the owner still lives. Nest must be called in onStarted; a second call returns the first one's supervisor. Name,
// Clock, Chaos and Unmeasured come from the owner and not from opt. Unsupervised: a root supervisor.
func Nest(ctx Context, opt Options) *Supervisor {
	if inc := of(ctx); inc != nil {
		return inc.nest(opt)
	}
	return Start(ctx.ActorSystem(), opt)
}

// Go runs f in a goroutine that belongs to this incarnation, such as a socket loop. The context of f is Lifetime(ctx).
// If f panics, or returns an error before that context ends, the actor dies. The next incarnation starts only after f
// has returned (or StopTimeout is over), so that a socket is closed before it is bound again. Unsupervised: a plain
// goroutine.
func Go(ctx Context, name string, f func(ctx context.Context) error) {
	if inc := of(ctx); inc != nil {
		inc.spawn(name, f)
		return
	}
	log := ctx.Logger()
	go func() {
		if err := f(context.Background()); err != nil {
			log.Warn("goroutine ended", "name", name, "err", err)
		}
	}()
}

// Patiently calls f, which may legitimately wait for longer than a component may (Options.ComponentTimeout). While f
// runs, the actor has the time limit of a worker.
func Patiently(ctx Context, f func()) {
	if inc := of(ctx); inc != nil {
		inc.patient.Add(1)
		defer inc.patient.Add(-1)
	}
	f()
}

// Send sends a message and counts it as sent by this actor.
func Send(ctx Context, to *Ref, msg any) bool {
	if inc := of(ctx); inc != nil {
		inc.ref.stats.Sent.Add(1)
	}
	return to.Send(msg)
}

// Failed counts one message as failed although the actor lives on.
func Failed(ctx Context) {
	if inc := of(ctx); inc != nil {
		inc.ref.stats.Failed.Add(1)
	}
}

// Note shows a short text in the actor's snapshot until the next Note, such as the jid of the current job.
func Note(ctx Context, text string) {
	if inc := of(ctx); inc != nil {
		inc.ref.stats.SetNote(text)
	}
}

// Unhandled is the default case of every Receive. It ignores the runtime's own messages. Any other message is counted,
// logged by type and reported as lost (ErrUnhandled).
func Unhandled(ctx Context) {
	msg := ctx.Message()
	if RuntimeMessage(msg) {
		return
	}
	ctx.Logger().Warn("unhandled message", "type", typeName(msg))
	if inc := of(ctx); inc != nil {
		inc.ref.lose(&actor.MessageEnvelope{Message: msg, Sender: ctx.Sender()}, ErrUnhandled)
	}
}

// Crash ends the actor because its own state is broken: the only panic in the tree.
func Crash(err error) { panic(err) }
