package supervisor_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
)

// waitWithin is the function in which a goroutine of Go waits.
//
//go:noinline
func waitWithin(ctx context.Context, begun chan<- struct{}) error {
	close(begun)
	<-ctx.Done()
	return ctx.Err()
}

// TestStack: an actor's handler and its goroutines are found among all goroutines, and no others.
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
	call(t, ref, func(ctx supervisor.Context) bool {
		supervisor.Go(ctx, "wait", func(ctx context.Context) error { return waitWithin(ctx, begun) })
		return true
	})
	actortest.Wait(t, "goroutine", begun)
	release := hang(t, ref)
	for _, path := range []string{"a", "master/a"} {
		text := stack(path)
		if strings.Count("\n"+text, "\ngoroutine ") != 2 || !strings.Contains(text, "waitWithin") ||
			!strings.Contains(text, "main_test.go") || strings.Contains(text, "deepWithin") {
			t.Errorf("stack of %s:\n%s", path, text)
		}
	}
	if text := stack("b"); !strings.Contains(text, "deepWithin") || strings.Contains(text, "waitWithin") {
		t.Errorf("stack of b:\n%s", text)
	}
	for _, path := range []string{"", "master"} {
		if text := stack(path); !strings.Contains(text, "deepWithin") || !strings.Contains(text, "waitWithin") ||
			!strings.Contains(text, "testing.") {
			t.Errorf("all stacks:\n%s", text)
		}
	}
	release()
	if _, err := s.Stack("nobody"); !errors.Is(err, supervisor.ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

// startWithin starts goroutines by plain go statements: two that wait, and one that starts another.
//
//go:noinline
func startWithin(end <-chan struct{}, begun *sync.WaitGroup) {
	begun.Add(3)
	for range 2 {
		go loneWithin(end, begun)
	}
	go func() {
		go childWithin(end, begun)
	}()
}

//go:noinline
func loneWithin(end <-chan struct{}, begun *sync.WaitGroup) {
	begun.Done()
	<-end
}

//go:noinline
func childWithin(end <-chan struct{}, begun *sync.WaitGroup) {
	begun.Done()
	<-end
}

// TestStackOfPlainGoroutines: goroutines that an actor starts by a go statement are found, in a handler and in a
// goroutine of Go, and after a restart of the actor. The goroutines that another actor starts because of a message
// belong to that actor.
func TestStackOfPlainGoroutines(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{Name: "master"})
	ref, other, tasks := add(t, s, script("a")), add(t, s, script("b")), add(t, s, script("c"))
	end := make(chan struct{})
	defer close(end)
	var begun sync.WaitGroup
	call(t, ref, func(supervisor.Context) bool {
		startWithin(end, &begun)
		return true
	})
	started := make(chan struct{})
	call(t, tasks, func(ctx supervisor.Context) bool {
		supervisor.Go(ctx, "starts", func(ctx context.Context) error {
			startWithin(end, &begun)
			return waitWithin(ctx, started)
		})
		return true
	})
	actortest.Wait(t, "goroutine", started)
	begun.Wait()
	release := hang(t, other)
	defer release()
	check := func(path string, lone, child, all int) {
		t.Helper()
		var text string
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
			// the goroutines have just been started
			var err error
			if text, err = s.Stack(path); err != nil {
				t.Fatal(err)
			}
			lines := "\n" + text
			if strings.Count(lines, "\nbrine/supervisor_test.loneWithin") == lone &&
				strings.Count(lines, "\nbrine/supervisor_test.childWithin") == child &&
				strings.Count(lines, "\ngoroutine") == all &&
				(lone == 0 || strings.Contains(text, "goroutines started by it: 2\n")) {
				return
			}
		}
		t.Errorf("stack of %s:\n%s", path, text)
	}
	check("a", 1, 1, 2)
	check("b", 0, 0, 1)
	check("c", 1, 1, 3)
	s.Restart("a")
	check("a", 1, 1, 2)
}
