package actortest

import (
	"errors"
	"runtime"
	"sync/atomic"

	"brine/supervisor"
)

// ErrInjected is what a Crasher's panics carry.
var ErrInjected = errors.New("injected fault")

// Crasher wraps the constructor of an actor and harms its incarnations when the test says so: at the
// message where a fault belongs, not somewhere in between.
type Crasher struct {
	make func() supervisor.Actor
	next atomic.Pointer[harm]
}

type harm struct {
	how     func(ctx supervisor.Context)
	on      func(msg any) bool
	instead bool // of the actor's own handler, not after it
}

// NewCrasher wraps a constructor; New of the result goes into the Spec.
func NewCrasher(make func() supervisor.Actor) *Crasher { return &Crasher{make: make} }

// New makes one incarnation.
func (c *Crasher) New() supervisor.Actor { return &crashing{Crasher: c, inner: c.make()} }

// Panic makes the next message of the type of like crash the actor instead of being handled. With a nil
// like it is the next message of a user.
func (c *Crasher) Panic(like any) {
	c.arm(like, true, func(supervisor.Context) { supervisor.Crash(ErrInjected) })
}

// PanicAfter lets the actor handle the message first: what it did stays done, but nobody was told.
func (c *Crasher) PanicAfter(like any) {
	c.arm(like, false, func(supervisor.Context) { supervisor.Crash(ErrInjected) })
}

// Exit makes the actor stop itself at such a message.
func (c *Crasher) Exit(like any) {
	c.arm(like, true, func(ctx supervisor.Context) { ctx.Stop(ctx.Self()) })
}

// Goexit ends the goroutine of the handler at such a message, as t.FailNow would.
func (c *Crasher) Goexit(like any) {
	c.arm(like, true, func(supervisor.Context) { runtime.Goexit() })
}

// Hang makes the handler of such a message wait: reached is closed when it is there, and it returns when
// the test calls release, whatever becomes of its context.
func (c *Crasher) Hang(like any) (reached <-chan struct{}, release func()) {
	at, over := make(chan struct{}), make(chan struct{})
	c.arm(like, true, func(supervisor.Context) {
		close(at)
		<-over
	})
	return at, func() { close(over) }
}

func (c *Crasher) arm(like any, instead bool, how func(supervisor.Context)) {
	c.next.Store(&harm{how: how, on: sameType(like), instead: instead})
}

// Struck tells whether the harm that was asked for last, if any, has been done.
func (c *Crasher) Struck() bool { return c.next.Load() == nil }

type crashing struct {
	*Crasher
	inner supervisor.Actor
}

func (c *crashing) Receive(ctx supervisor.Context) {
	h := c.next.Load()
	if h == nil || !h.on(ctx.Message()) || !c.next.CompareAndSwap(h, nil) {
		c.inner.Receive(ctx)
		return
	}
	if !h.instead {
		c.inner.Receive(ctx)
	}
	h.how(ctx)
}
