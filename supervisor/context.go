package supervisor

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"
)

// The functions below are for the inside of Receive. Under an actor that no supervisor started they do
// the harmless thing said with each.

// Lifetime is the context of this incarnation: cancelled before the actor is told to stop and as soon as it dies.
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

// Incarnation counts from 1. Unsupervised: 1.
func Incarnation(ctx Context) int {
	if inc := of(ctx); inc != nil {
		return inc.n
	}
	return 1
}

// Nest makes the supervisor of a subtree owned by this incarnation: the owner's death stops the whole
// subtree, and only when that is down does the next owner start (and build its own). It must be called in
// onStarted; a second call returns the first one's. Of opt, Name, Clock and Chaos are the owner's. When the
// owner is stopped, its subtree stops first, while the owner still lives. Unsupervised: a root supervisor.
func Nest(ctx Context, opt Options) *Supervisor {
	if inc := of(ctx); inc != nil {
		return inc.nest(opt)
	}
	return Start(ctx.ActorSystem(), opt)
}

// Go runs f in a goroutine that belongs to this incarnation, such as a socket loop. Its context is Lifetime(ctx).
// If f panics, or returns an error while that context lives, the actor dies of it. The next incarnation starts
// only when f has returned (or StopTimeout is over), so a socket is closed before it is bound again.
// Unsupervised: a plain goroutine.
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

// Patiently calls f, which may honestly wait for longer than a component may (Options.ComponentTimeout): while it runs
// the actor has the time of a worker.
func Patiently(ctx Context, f func()) {
	if inc := of(ctx); inc != nil {
		inc.patient.Add(1)
		defer inc.patient.Add(-1)
	}
	f()
}

// Send sends and counts it as sent by this actor.
func Send(ctx Context, to *Ref, msg any) bool {
	if inc := of(ctx); inc != nil {
		inc.ref.stats.Sent.Add(1)
	}
	return to.Send(msg)
}

// Failed counts one message as failed though the actor lives on.
func Failed(ctx Context) {
	if inc := of(ctx); inc != nil {
		inc.ref.stats.Failed.Add(1)
	}
}

// Note shows a short text in the actor's snapshot until the next Note, such as the jid being worked on.
func Note(ctx Context, text string) {
	if inc := of(ctx); inc != nil {
		inc.ref.stats.SetNote(text)
	}
}

// Unhandled is the default case of every Receive: silent for the runtime's own messages, else the message
// is counted, logged by type and reported lost (ErrUnhandled).
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
