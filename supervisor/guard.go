package supervisor

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// injected makes an actor fail from outside. It overtakes the waiting messages.
type injected struct {
	err error // of a goroutine of Go
	how Fault
}

// guard stands between protoactor and an actor. It makes the actor's value in the actor's own goroutine and gives it a
// bound context. While the actor is ending, it recovers panics: they would leave an actor that is neither alive nor
// reported as dead.
type guard struct {
	inc    *incarnation
	inner  Actor
	bound  bound
	ending bool
}

func (g *guard) Receive(ctx Context) {
	switch m := ctx.Message().(type) {
	case *Started:
		g.start(ctx)
	case *Stopping, *Stopped, *Restarting:
		g.ending = true
		g.last()
	case *injected:
		g.suffer(m)
	default:
		if g.ending {
			g.last()
			return
		}
		g.inner.Receive(&g.bound)
	}
}

func (g *guard) start(ctx Context) {
	g.bound = bound{Context: ctx, inc: g.inc, guard: g}
	g.inner = g.inc.ref.spec.New()
	g.inner.Receive(&g.bound)
	g.inc.ref.started(g.inc.n)
}

// last delivers a message of the actor's end.
func (g *guard) last() {
	defer func() {
		if r := recover(); r != nil {
			g.inc.log().Warn("panic while stopping", "err", fmt.Sprint(r), "stack", trimStack(string(debug.Stack())))
		}
	}()
	if g.inner != nil {
		g.inner.Receive(&g.bound)
	}
}

func (g *guard) suffer(m *injected) {
	switch {
	case m.err != nil:
		Crash(m.err)
	case m.how == FaultExit:
		g.bound.Stop(g.bound.Self())
	case m.how == FaultHang:
		<-g.inc.abandoned
	default:
		Crash(fmt.Errorf("injected fault %q", m.how))
	}
}

// bound is the context of a supervised actor: protoactor's context, with access to the incarnation. It counts sent
// messages.
type bound struct {
	Context
	inc   *incarnation
	guard *guard
}

func (b *bound) Actor() Actor         { return b.guard.inner }
func (b *bound) Logger() *slog.Logger { return b.inc.log() }

func (b *bound) Send(pid *PID, msg any) {
	b.inc.ref.stats.Sent.Add(1)
	b.Context.Send(pid, msg)
}

func (b *bound) Request(pid *PID, msg any) {
	b.inc.ref.stats.Sent.Add(1)
	b.Context.Request(pid, msg)
}

func (b *bound) RequestWithCustomSender(pid *PID, msg any, sender *PID) {
	b.inc.ref.stats.Sent.Add(1)
	b.Context.RequestWithCustomSender(pid, msg, sender)
}

func (b *bound) Respond(msg any) {
	b.inc.ref.stats.Sent.Add(1)
	b.Context.Respond(msg)
}

func (b *bound) Forward(pid *PID) {
	b.inc.ref.stats.Sent.Add(1)
	b.Context.Forward(pid)
}

// Stop of the actor itself cancels the context first, like every other way to end.
func (b *bound) Stop(pid *PID) {
	if pid.Equal(b.Self()) {
		b.inc.cancel()
	}
	b.Context.Stop(pid)
}

// group is the actor of a child made by AddTree: it only owns the tree.
type group struct{ tree *Supervisor }

func (g *group) Receive(ctx Context) {
	switch ctx.Message().(type) {
	case *Started:
		if inc := of(ctx); inc != nil {
			inc.adopt(g.tree)
		}
	default:
		Unhandled(ctx)
	}
}

// of finds the incarnation of a context; nil for an unsupervised actor.
func of(ctx Context) *incarnation {
	if b, ok := ctx.(*bound); ok {
		return b.inc
	}
	return nil
}
