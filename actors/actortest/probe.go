package actortest

import (
	"reflect"
	"testing"
	"time"

	"brine/supervisor"
)

// Probe is an actor that hands every message it gets to the test, over all its incarnations. It stands for
// the neighbour of the actor under test.
type Probe struct {
	got       chan any
	lifecycle bool
}

// NewProbe makes a probe that passes on the messages of users.
func NewProbe() *Probe { return &Probe{got: make(chan any, 4096)} }

// NewLifecycleProbe makes one that passes on the runtime's messages (Started, Stopping, Stopped, ...) too.
func NewLifecycleProbe() *Probe { return &Probe{got: make(chan any, 4096), lifecycle: true} }

// New is the constructor for a Spec or for Props.
func (p *Probe) New() supervisor.Actor { return p }

// Receive passes the message on.
func (p *Probe) Receive(ctx supervisor.Context) {
	if m := ctx.Message(); p.lifecycle || !supervisor.RuntimeMessage(m) {
		p.got <- m
	}
}

// Got is the channel of the messages, for a select of the test's own.
func (p *Probe) Got() <-chan any { return p.got }

// Expect waits for the next message, which must be a T.
func Expect[T any](t testing.TB, p *Probe) T {
	t.Helper()
	msg := p.next(t, reflect.TypeFor[T]().String())
	m, ok := msg.(T)
	if !ok {
		t.Fatalf("got %T %+v, want %s", msg, msg, reflect.TypeFor[T]())
	}
	return m
}

// Find waits for the next T and drops what comes before.
func Find[T any](t testing.TB, p *Probe) T {
	t.Helper()
	for {
		if m, ok := p.next(t, reflect.TypeFor[T]().String()).(T); ok {
			return m
		}
	}
}

func (p *Probe) next(t testing.TB, want string) any {
	t.Helper()
	select {
	case msg := <-p.got:
		return msg
	case <-time.After(patience):
		t.Fatalf("no message, want %s", want)
		return nil
	}
}

// None fails when a message has come already. To know that none will come, a test first waits for
// something that the actor does later.
func (p *Probe) None(t testing.TB) {
	t.Helper()
	select {
	case msg := <-p.got:
		t.Fatalf("got %T %+v, want no message", msg, msg)
	default:
	}
}
