package supervisor_test

import (
	"context"
	"errors"
	"testing"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"
)

// TestAnswers: a supervisor answers whatever its children do, but not while it hangs itself.
func TestAnswers(t *testing.T) {
	reached, over := make(chan struct{}), make(chan struct{})
	s := supervisor.Start(supervisor.NewSystem(actortest.NewLog().Logger()), supervisor.Options{Name: "test",
		OnDeath: func(stats.Death) { close(reached); <-over }}) // it must not block, but here it does
	ref := add(t, s, script("a"))
	release := hang(t, add(t, s, script("b")))
	if err := s.Answers(t.Context()); err != nil {
		t.Errorf("got %v", err)
	}
	ref.Send(boom())
	actortest.Wait(t, "death", reached)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Answers(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(over)
	if err := s.Answers(t.Context()); err != nil {
		t.Errorf("got %v", err)
	}
	release()
	s.Stop(patience)
	if err := s.Answers(t.Context()); !errors.Is(err, supervisor.ErrStopped) {
		t.Errorf("got %v", err)
	}
}
