package supervisor_test

import (
	"errors"
	"regexp"
	"testing"

	"brine/actors/actortest"
	"brine/supervisor"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// do is a message that tells a scripted actor what to do with it.
type do struct{ f func(ctx actor.Context) }

// scripted does what its messages say; on is called for the runtime's messages.
type scripted struct{ on func(ctx actor.Context) }

func (s *scripted) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *do:
		m.f(ctx)
	case *actor.Started, *actor.Stopping, *actor.Stopped:
		if s.on != nil {
			s.on(ctx)
		}
	default:
		supervisor.Unhandled(ctx)
	}
}

// script is the Spec of a scripted actor.
func script(name string) supervisor.Spec {
	return supervisor.Spec{Name: name, New: func() actor.Actor { return &scripted{} }}
}

// scriptOn has a handler for the runtime's messages.
func scriptOn(name string, on func(ctx actor.Context)) supervisor.Spec {
	return supervisor.Spec{Name: name, New: func() actor.Actor { return &scripted{on: on} }}
}

var errBoom = errors.New("boom")

func boom() any { return &do{func(actor.Context) { supervisor.Crash(errBoom) }} }

func exit() any { return &do{func(ctx actor.Context) { ctx.Stop(ctx.Self()) }} }

// incarnation asks an actor which one it is.
func incarnation(t testing.TB, ref *supervisor.Ref) int {
	t.Helper()
	return call(t, ref, func(ctx actor.Context) int { return supervisor.Incarnation(ctx) })
}

// call runs f inside the actor and returns its result.
func call[T any](t testing.TB, ref *supervisor.Ref, f func(ctx actor.Context) T) T {
	t.Helper()
	return actortest.Ask(t, ref, func(reply chan<- T) any {
		return &do{func(ctx actor.Context) { reply <- f(ctx) }}
	})
}

// hang makes the actor hang in a handler until release is called, whatever becomes of its context.
func hang(t testing.TB, ref *supervisor.Ref) (release func()) {
	t.Helper()
	reached, over := make(chan struct{}), make(chan struct{})
	ref.Send(&do{func(actor.Context) { close(reached); <-over }})
	actortest.Wait(t, "hanging handler", reached)
	return func() { close(over) }
}

func add(t testing.TB, s *supervisor.Supervisor, spec supervisor.Spec) *supervisor.Ref {
	t.Helper()
	return actortest.Add(t, s, spec)
}

var suffix = regexp.MustCompile(`(#\d+)\.\d+`)

// even takes the suffixes out of ids that 32-bit machines need, see freeID.
func even(s string) string { return suffix.ReplaceAllString(s, "$1") }

// poison sends a poison pill to ref from an actor of s.
func poison(t testing.TB, s *supervisor.Supervisor, ref *supervisor.Ref) {
	t.Helper()
	call(t, add(t, s, script("poisoner")), func(ctx actor.Context) bool { ctx.Poison(ref.PID()); return true })
}
