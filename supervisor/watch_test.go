package supervisor_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"
)

// tickOn advances the clock by one look of the watchdog.
func tickOn(t testing.TB, clock *actortest.Clock) {
	t.Helper()
	clock.WaitTimer(t, lookEvery)
	clock.Advance(lookEvery)
	clock.WaitTimer(t, lookEvery) // the look is over
}

// lookEvery is the default interval of the watchdog.
const lookEvery = supervisor.DefaultSlowAfter / 4

// deepWithin hangs in a function with a name that a stack shows.
//
//go:noinline
func deepWithin(reached chan<- struct{}, over <-chan struct{}) {
	close(reached)
	<-over
}

// hangDeep makes the actor hang; the release must be called.
func hangDeep(t testing.TB, ref *supervisor.Ref) (release func()) {
	t.Helper()
	reached, over := make(chan struct{}), make(chan struct{})
	ref.Send(&do{func(supervisor.Context) { deepWithin(reached, over) }})
	actortest.Wait(t, "hanging handler", reached)
	return func() { close(over) }
}

func TestSlowHandlerIsReportedWithItsStack(t *testing.T) {
	clock, log := actortest.NewClock(), actortest.NewLog()
	told := make(chan stats.Slow, 10)
	s := actortest.Start(t, supervisor.Options{Clock: clock, Logger: log.Logger(), OnSlow: func(x stats.Slow) {
		told <- x
	}})
	ref := add(t, s, script("a"))
	other := add(t, s, script("b"))
	releaseOther := hang(t, other) // another stack, which is not the right one
	release := hangDeep(t, ref)
	for range 4 {
		tickOn(t, clock)
	}
	if len(told) != 0 {
		t.Errorf("reported after %s", supervisor.DefaultSlowAfter)
	}
	tickOn(t, clock)
	for range 2 {
		x := actortest.Wait(t, "report", told)
		deep := strings.Contains(x.Stack, "supervisor_test.deepWithin(")
		if x.Message != "*supervisor_test.do" || x.Running != 5*lookEvery || x.Incarnation != 1 || x.Abandoned ||
			deep != (x.Name == "a") ||
			!strings.HasPrefix(x.Stack, "goroutine ") || strings.Count(x.Stack, "goroutine ") != 1 ||
			strings.Contains(x.Stack, "guard") {
			t.Errorf("got %+v", x)
		}
	}
	log.Await(t, "WARN handler runs for long")
	tickOn(t, clock)
	tickOn(t, clock)
	if len(told) != 0 {
		t.Errorf("reported again: %+v", <-told)
	}
	release()
	releaseOther()
	if n := incarnation(t, ref); n != 1 {
		t.Errorf("got incarnation %d", n)
	}
	release = hangDeep(t, ref) // the next one is reported like the first
	for range 5 {
		tickOn(t, clock)
	}
	actortest.Wait(t, "report", told)
	release()
	if c, _ := child(s.Snapshot(), "a"); c.Slow != 2 || c.LastSlow == nil || c.LastSlow.Path != "test/a" ||
		c.Stuck != 0 {
		t.Errorf("got %d slow, the last %+v, %d stuck", c.Slow, c.LastSlow, c.Stuck)
	}
}

// TestSlowHandlerThatEndsBetweenTwoLooks: such a handler is counted, although its stack is unknown.
func TestSlowHandlerThatEndsBetweenTwoLooks(t *testing.T) {
	clock := actortest.NewClock()
	told := make(chan stats.Slow, 10)
	s := actortest.Start(t, supervisor.Options{Clock: clock, WorkerTimeout: -1, OnSlow: func(x stats.Slow) {
		told <- x
	}})
	clock.WaitTimer(t, lookEvery)
	clock.Advance(lookEvery / 2)
	ref := add(t, s, script("a"))
	ref.Send(&do{func(supervisor.Context) {
		clock.Advance(time.Second + 1) // the due look finds nothing: it runs later, in the supervisor
	}})
	x := actortest.Wait(t, "report", told)
	if x.Running != time.Second+1 || x.Path != "test/a" {
		t.Errorf("got %+v", x)
	}
}

func TestHungHandlerIsReplaced(t *testing.T) {
	clock, log := actortest.NewClock(), actortest.NewLog()
	told := make(chan stats.Slow, 10)
	deaths := make(chan stats.Death, 10)
	s := actortest.Start(t, supervisor.Options{Clock: clock, Logger: log.Logger(), WorkerTimeout: 3 * time.Second,
		OnSlow: func(x stats.Slow) { told <- x }, OnDeath: func(d stats.Death) { deaths <- d }})
	spec, got, lost := collector("a")
	ref := add(t, s, spec)
	release := hangDeep(t, ref)
	ref.Send(&numbered{1})
	for range 12 {
		tickOn(t, clock)
	}
	if len(deaths) != 0 {
		t.Fatalf("dead at the limit: %+v", <-deaths)
	}
	tickOn(t, clock)
	d := actortest.Wait(t, "death", deaths)
	if d.Reason != "a handler ran longer than 3s" || d.Message != "*supervisor_test.do" || d.Status != -9 ||
		!strings.Contains(d.Stack, "deepWithin(") {
		t.Errorf("got %+v", d)
	}
	if l := actortest.Wait(t, "loss", lost); !errors.Is(l.why, supervisor.ErrAbandoned) {
		t.Errorf("lost: %v", l.why)
	}
	if out := take(t, got, 1); out[0] != 1 {
		t.Errorf("the next one got %v", out)
	}
	first, last := actortest.Wait(t, "report", told), actortest.Wait(t, "report", told)
	if first.Abandoned || !last.Abandoned || last.Running != 13*lookEvery {
		t.Errorf("got %+v, then %+v", first, last)
	}
	if c := s.Snapshot()[0]; c.Incarnation != 2 || c.Abandoned != 1 || c.Stuck != 1 || c.Slow != 1 || c.BusyMS < 3000 {
		t.Errorf("got incarnation %d, %d abandoned, %d stuck, %d slow, busy for %d ms", c.Incarnation, c.Abandoned,
			c.Stuck, c.Slow, c.BusyMS)
	}
	release()
	awaitStuck(t, s, 0)
	if s.Strays() == 0 {
		log.Await(t, "a process that is not in the map has died")
	}
}

// awaitStuck waits until the first child has so many stuck goroutines.
func awaitStuck(t testing.TB, s *supervisor.Supervisor, want int64) {
	t.Helper()
	limit := time.Now().Add(patience)
	for s.Snapshot()[0].Stuck != want {
		if runtime.Gosched(); time.Now().After(limit) {
			t.Fatalf("%d stuck, want %d", s.Snapshot()[0].Stuck, want)
		}
	}
}

// TestHungWhileStartingOrStopping: no other rule ends the wait for such handlers.
func TestHungWhileStartingOrStopping(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   func(msg any) bool
		kill any
	}{
		{"Started", func(msg any) bool { _, ok := msg.(*supervisor.Started); return ok }, nil},
		{"Stopping after a panic", func(msg any) bool { _, ok := msg.(*supervisor.Stopping); return ok }, boom()},
		{"Stopping after a self-stop", func(msg any) bool { _, ok := msg.(*supervisor.Stopping); return ok }, exit()},
		{"Stopped", func(msg any) bool { _, ok := msg.(*supervisor.Stopped); return ok }, exit()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := actortest.NewClock()
			s := actortest.Start(t, supervisor.Options{Clock: clock, WorkerTimeout: time.Second})
			reached, over := make(chan struct{}), make(chan struct{})
			ref, err := s.Add(scriptOn("a", func(ctx supervisor.Context) {
				if tt.in(ctx.Message()) && supervisor.Incarnation(ctx) == 1 {
					close(reached)
					<-over
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			if tt.kill != nil {
				ref.Send(tt.kill)
			}
			actortest.Wait(t, "hanging handler", reached)
			for range 5 {
				tickOn(t, clock)
			}
			if n := incarnation(t, ref); n != 2 {
				t.Errorf("got incarnation %d, want 2", n)
			}
			close(over)
			awaitStuck(t, s, 0)
		})
	}
}

// TestNextAfterAHungOneWaitsForTheSocket: the handler hangs, but the socket does not, and is closed before it is bound
// again.
func TestNextAfterAHungOneWaitsForTheSocket(t *testing.T) {
	clock := actortest.NewClock()
	s := actortest.Start(t, supervisor.Options{Clock: clock, WorkerTimeout: time.Second})
	log := make(lives, 100)
	let := make(chan struct{})
	ref := add(t, s, scriptOn("ReqServer", func(ctx supervisor.Context) {
		if _, ok := ctx.Message().(*supervisor.Started); !ok {
			return
		}
		log.tell(ctx)
		tree := supervisor.Nest(ctx, supervisor.Options{})
		if _, err := tree.Add(scriptOn("MWorker", log.tell)); err != nil {
			t.Error(err)
		}
		supervisor.Go(ctx, "socket", func(ctx context.Context) error {
			<-ctx.Done()
			<-let
			log <- "closed"
			return ctx.Err()
		})
	}))
	log.expect(t, "test/ReqServer#1 starts", "test/ReqServer/MWorker#1 starts")
	release := hang(t, ref)
	for range 5 {
		tickOn(t, clock)
	}
	log.expect(t, "test/ReqServer/MWorker#1 stops")
	awaitState(t, s, stats.StateRestarting)
	let <- struct{}{}
	log.expect(t, "closed", "test/ReqServer#2 starts", "test/ReqServer/MWorker#2 starts")
	release()
	close(let)
	awaitStuck(t, s, 0)
}

// TestStuckGoroutinesAreCounted: stuck goroutines count until they end, those of Go like that of the handler.
func TestStuckGoroutinesAreCounted(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{WaitForKill: time.Millisecond})
	ref := add(t, s, script("a"))
	over := make(chan struct{})
	for range 2 {
		call(t, ref, func(ctx supervisor.Context) bool {
			supervisor.Go(ctx, "loop", func(context.Context) error { <-over; return nil })
			return true
		})
	}
	release := hang(t, ref)
	if err := s.Restart("a"); err != nil {
		t.Fatal(err)
	}
	if n := incarnation(t, ref); n != 2 {
		t.Fatalf("got incarnation %d", n)
	}
	awaitStuck(t, s, 3)
	release()
	awaitStuck(t, s, 2)
	close(over)
	awaitStuck(t, s, 0)
	if c := s.Snapshot()[0]; c.Abandoned != 1 {
		t.Errorf("got %d abandoned", c.Abandoned)
	}
}

// TestWorkerTimeoutOfASpec: a child may have more time than the others, or no limit.
func TestWorkerTimeoutOfASpec(t *testing.T) {
	clock := actortest.NewClock()
	deaths := make(chan stats.Death, 10)
	s := actortest.Start(t, supervisor.Options{Clock: clock, WorkerTimeout: time.Second, OnDeath: func(d stats.Death) {
		deaths <- d
	}})
	patient, endless, plain := script("patient"), script("endless"), script("plain")
	patient.WorkerTimeout, endless.WorkerTimeout = 2*time.Second, -1
	for _, spec := range []supervisor.Spec{patient, endless, plain} {
		defer hang(t, add(t, s, spec))()
	}
	for range 5 {
		tickOn(t, clock)
	}
	if d := actortest.Wait(t, "death", deaths); d.Name != "plain" {
		t.Errorf("dead: %s", d.Name)
	}
	for range 4 {
		tickOn(t, clock)
	}
	if d := actortest.Wait(t, "death", deaths); d.Name != "patient" {
		t.Errorf("dead: %s", d.Name)
	}
	for range 4 {
		tickOn(t, clock)
	}
	if len(deaths) != 0 {
		t.Errorf("dead: %+v", <-deaths)
	}
}

// TestLateDeathOfAHungOneHidesNobody: a handler that was left behind ends in a panic while its successor hangs too. The
// watchdog still sees the successor.
func TestLateDeathOfAHungOneHidesNobody(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func()
	}{
		{"returns", func() {}},
		{"panics", func() { supervisor.Crash(errBoom) }},
		{"exits", runtime.Goexit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := actortest.NewClock()
			s := actortest.Start(t, supervisor.Options{Clock: clock, WorkerTimeout: time.Second})
			ref := add(t, s, script("a"))
			reached, over := make(chan struct{}), make(chan struct{})
			ref.Send(&do{func(supervisor.Context) { close(reached); <-over; tt.end() }})
			actortest.Wait(t, "hanging handler", reached)
			for range 5 {
				tickOn(t, clock)
			}
			release := hang(t, ref) // the next one
			defer release()
			close(over)
			awaitStuck(t, s, 0)
			if c := s.Snapshot()[0]; c.InHand != "*supervisor_test.do" || c.Incarnation != 2 {
				t.Errorf("incarnation %d seems to have %q in hand", c.Incarnation, c.InHand)
			}
			for range 5 {
				tickOn(t, clock)
			}
			if n := incarnation(t, ref); n != 3 {
				t.Errorf("got incarnation %d, want 3", n)
			}
		})
	}
}
