package supervisor_test

import (
	"errors"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for a certain event; only a failing test waits so long.
const patience = time.Minute

// do is a message with a function for a scripted actor.
type do struct{ f func(ctx supervisor.Context) }

// scripted runs the functions in its messages; on is called for the runtime's messages.
type scripted struct{ on func(ctx supervisor.Context) }

func (s *scripted) Receive(ctx supervisor.Context) {
	switch m := ctx.Message().(type) {
	case *do:
		m.f(ctx)
	case *supervisor.Started, *supervisor.Stopping, *supervisor.Stopped:
		if s.on != nil {
			s.on(ctx)
		}
	default:
		supervisor.Unhandled(ctx)
	}
}

// script is the Spec of a scripted actor.
func script(name string) supervisor.Spec {
	return supervisor.Spec{Name: name, New: func() supervisor.Actor { return &scripted{} }}
}

// scriptOn has a handler for the runtime's messages.
func scriptOn(name string, on func(ctx supervisor.Context)) supervisor.Spec {
	return supervisor.Spec{Name: name, New: func() supervisor.Actor { return &scripted{on: on} }}
}

var errBoom = errors.New("boom")

func boom() any { return &do{func(supervisor.Context) { supervisor.Crash(errBoom) }} }

func exit() any { return &do{func(ctx supervisor.Context) { ctx.Stop(ctx.Self()) }} }

// incarnation returns the number of an actor's incarnation.
func incarnation(t testing.TB, ref *supervisor.Ref) int {
	t.Helper()
	return call(t, ref, func(ctx supervisor.Context) int { return supervisor.Incarnation(ctx) })
}

// call runs f inside the actor and returns its result.
func call[T any](t testing.TB, ref *supervisor.Ref, f func(ctx supervisor.Context) T) T {
	t.Helper()
	return actortest.Ask(t, ref, func(reply chan<- T) any {
		return &do{func(ctx supervisor.Context) { reply <- f(ctx) }}
	})
}

// hang makes the actor hang in a handler until release is called, even if its context ends.
func hang(t testing.TB, ref *supervisor.Ref) (release func()) {
	t.Helper()
	reached, over := make(chan struct{}), make(chan struct{})
	ref.Send(&do{func(supervisor.Context) { close(reached); <-over }})
	actortest.Wait(t, "hanging handler", reached)
	return func() { close(over) }
}

func add(t testing.TB, s *supervisor.Supervisor, spec supervisor.Spec) *supervisor.Ref {
	t.Helper()
	return actortest.Add(t, s, spec)
}

var suffix = regexp.MustCompile(`(#\d+)\.\d+`)

// even removes the suffixes that 32-bit machines need from ids, see freeID.
func even(s string) string { return suffix.ReplaceAllString(s, "$1") }

// poison sends a poison pill to ref from an actor of s.
func poison(t testing.TB, s *supervisor.Supervisor, ref *supervisor.Ref) {
	t.Helper()
	call(t, add(t, s, script("poisoner")), func(ctx supervisor.Context) bool { ctx.Poison(ref.PID()); return true })
}

// awaitChild waits until a child is in a state.
func awaitChild(t testing.TB, s *supervisor.Supervisor, path, state string) {
	t.Helper()
	limit := time.Now().Add(patience)
	for time.Now().Before(limit) {
		if c, ok := child(s.Snapshot(), path); ok && c.State == state {
			return
		}
		runtime.Gosched()
	}
	t.Fatalf("%s is not %s: %+v", path, state, s.Snapshot())
}

// awaitNoChild waits until a child has ended and is removed.
func awaitNoChild(t testing.TB, s *supervisor.Supervisor, path string) {
	t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); runtime.Gosched() {
		if _, still := s.Lookup(path); !still {
			return
		}
	}
	t.Fatalf("%s is still there: %+v", path, s.Snapshot())
}

func child(all []stats.Child, path string) (stats.Child, bool) {
	name, rest, deeper := strings.Cut(path, "/")
	for _, c := range all {
		if c.Name == name && deeper {
			return child(c.Children, rest)
		}
		if c.Name == name {
			return c, true
		}
	}
	return stats.Child{}, false
}
