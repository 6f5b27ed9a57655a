package supervisor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"brine/actors/actortest"
	"brine/supervisor"

	"github.com/asynkron/protoactor-go/actor"
)

// waitWithin is where a goroutine of Go waits.
//
//go:noinline
func waitWithin(ctx context.Context, begun chan<- struct{}) error {
	close(begun)
	<-ctx.Done()
	return ctx.Err()
}

// TestStack: an actor's handler and its goroutines are found among all, and nobody else's.
func TestStack(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{Name: "master"})
	ref, other := add(t, s, script("a")), add(t, s, script("b"))
	stack := func(path string) string {
		t.Helper()
		text, err := s.Stack(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for stack("a") != "" { // its start may not be over
	}
	defer hangDeep(t, other)()
	begun := make(chan struct{})
	call(t, ref, func(ctx actor.Context) bool {
		supervisor.Go(ctx, "wait", func(ctx context.Context) error { return waitWithin(ctx, begun) })
		return true
	})
	actortest.Wait(t, "goroutine", begun)
	release := hang(t, ref)
	for _, path := range []string{"a", "master/a"} {
		text := stack(path)
		if strings.Count("\n"+text, "\ngoroutine ") != 2 || !strings.Contains(text, "waitWithin") || !strings.Contains(text, "main_test.go") || strings.Contains(text, "deepWithin") {
			t.Errorf("stack of %s:\n%s", path, text)
		}
	}
	if text := stack("b"); !strings.Contains(text, "deepWithin") || strings.Contains(text, "waitWithin") {
		t.Errorf("stack of b:\n%s", text)
	}
	for _, path := range []string{"", "master"} {
		if text := stack(path); !strings.Contains(text, "deepWithin") || !strings.Contains(text, "waitWithin") || !strings.Contains(text, "testing.") {
			t.Errorf("all stacks:\n%s", text)
		}
	}
	release()
	if _, err := s.Stack("nobody"); !errors.Is(err, supervisor.ErrUnknown) {
		t.Errorf("got %v", err)
	}
}
