package supervisor_test

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"

	"github.com/asynkron/protoactor-go/actor"
)

// component is a scripted actor on which other actors depend.
func component(name string) supervisor.Spec {
	spec := script(name)
	spec.Component = true
	return spec
}

// hangIdle makes an actor hang, and waits until it only waits.
func hangIdle(t testing.TB, s *supervisor.Supervisor, ref *supervisor.Ref) (release func()) {
	t.Helper()
	release = hang(t, ref)
	for limit := time.After(patience); ; {
		stack, err := s.Stack(ref.Name())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(stack, "[chan receive") {
			return release
		}
		select {
		case <-limit:
			t.Fatalf("it does not wait: %s", stack)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestHungComponent: a hung component is replaced long before a worker would be.
func TestHungComponent(t *testing.T) {
	clock, deaths := actortest.NewClock(), make(chan stats.Death, 10)
	s := actortest.Start(t, supervisor.Options{Clock: clock, OnDeath: func(d stats.Death) { deaths <- d }})
	ref := add(t, s, component("Dispatcher"))
	defer hang(t, add(t, s, script("Job")))()
	defer hangIdle(t, s, ref)()
	for range 4 * 5 {
		tickOn(t, clock)
	}
	if len(deaths) != 0 {
		t.Fatalf("dead at the limit: %+v", <-deaths)
	}
	tickOn(t, clock)
	if d := actortest.Wait(t, "death", deaths); d.Name != "Dispatcher" || d.Reason != "a handler ran longer than 5s" {
		t.Errorf("got %+v", d)
	}
	if n := incarnation(t, ref); n != 2 {
		t.Errorf("got incarnation %d", n)
	}
	for range 4 * 10 {
		tickOn(t, clock)
	}
	if len(deaths) != 0 {
		t.Errorf("dead too: %+v", <-deaths)
	}
}

// TestComponentThatWorks: a component that works has the time of a worker, because its work may take long or it may get
// no processor time.
func TestComponentThatWorks(t *testing.T) {
	clock, deaths := actortest.NewClock(), make(chan stats.Death, 10)
	s := actortest.Start(t, supervisor.Options{Clock: clock, WorkerTimeout: 20 * time.Second,
		OnDeath: func(d stats.Death) {
			deaths <- d
		}})
	ref := add(t, s, component("a"))
	reached, over := make(chan struct{}), new(atomic.Bool)
	ref.Send(&do{func(supervisor.Context) {
		close(reached)
		for !over.Load() {
			runtime.Gosched()
		}
	}})
	actortest.Wait(t, "handler", reached)
	for range 4 * 20 {
		tickOn(t, clock)
	}
	if len(deaths) != 0 {
		t.Fatalf("dead: %+v", <-deaths)
	}
	tickOn(t, clock)
	if d := actortest.Wait(t, "death", deaths); d.Reason != "a handler ran longer than 20s" {
		t.Errorf("got %+v", d)
	}
	over.Store(true)
	awaitStuck(t, s, 0)
}

// TestPatientComponent: a wait inside Patiently does not count.
func TestPatientComponent(t *testing.T) {
	clock, deaths := actortest.NewClock(), make(chan stats.Death, 10)
	s := actortest.Start(t, supervisor.Options{Clock: clock, WorkerTimeout: 10 * time.Second,
		OnDeath: func(d stats.Death) {
			deaths <- d
		}})
	ref := add(t, s, component("a"))
	reached, over := make(chan struct{}), make(chan struct{})
	ref.Send(&do{func(ctx supervisor.Context) { supervisor.Patiently(ctx, func() { close(reached); <-over }) }})
	actortest.Wait(t, "handler", reached)
	for range 4 * 10 {
		tickOn(t, clock)
	}
	if len(deaths) != 0 {
		t.Fatalf("dead: %+v", <-deaths)
	}
	close(over)
	defer hangIdle(t, s, ref)() // the next message is judged like any other
	for range 4*5 + 1 {
		tickOn(t, clock)
	}
	if d := actortest.Wait(t, "death", deaths); d.Reason != "a handler ran longer than 5s" {
		t.Errorf("got %+v", d)
	}
}

// TestStoppedMachine: after the whole process was stopped, no actor is replaced, however long the stop was and whenever
// it came.
func TestStoppedMachine(t *testing.T) {
	clock, deaths := actortest.NewClock(), make(chan stats.Death, 10)
	s := actortest.Start(t, supervisor.Options{Clock: clock, WorkerTimeout: 10 * time.Second,
		OnDeath: func(d stats.Death) {
			deaths <- d
		}})
	for _, spec := range []supervisor.Spec{component("a"), component("b"), script("c")} {
		ref := add(t, s, spec)
		defer incarnation(t, ref)
		defer hangIdle(t, s, ref)()
	}
	tickOn(t, clock)
	for range 5 { // each counts for half a second
		clock.WaitTimer(t, lookEvery)
		clock.Advance(time.Hour)
		clock.WaitTimer(t, lookEvery)
	}
	if len(deaths) != 0 {
		t.Errorf("dead: %+v", <-deaths)
	}
}

func TestComponentTimeoutDefault(t *testing.T) {
	for _, tt := range []struct {
		worker, component time.Duration
		looks             int // the last look replaces it
	}{
		{0, 0, 21}, {time.Second, 0, 5}, {time.Minute, 2 * time.Second, 9}, {2 * time.Second, -1, 9},
	} {
		clock, deaths := actortest.NewClock(), make(chan stats.Death, 10)
		s := actortest.Start(t, supervisor.Options{Clock: clock, WorkerTimeout: tt.worker,
			ComponentTimeout: tt.component, OnDeath: func(d stats.Death) {
				deaths <- d
			}})
		release := hangIdle(t, s, add(t, s, component("a")))
		every := lookEvery
		for range tt.looks {
			if len(deaths) != 0 {
				t.Errorf("%+v: dead too early", tt)
			}
			clock.WaitTimer(t, every)
			clock.Advance(every)
			clock.WaitTimer(t, every)
		}
		actortest.Wait(t, "death", deaths)
		release()
	}
}

// TestEventStream: a subscriber of protoactor's event stream sees failures, deaths and restarts.
func TestEventStream(t *testing.T) {
	clock, log := actortest.NewClock(), actortest.NewLog()
	system := supervisor.NewSystem(log.Logger())
	events := make(chan any, 100)
	system.EventStream.Subscribe(func(e any) {
		switch e.(type) {
		case *actor.SupervisorEvent, *supervisor.ChildDied, *supervisor.ChildRestarted, *actor.DeadLetterEvent:
			events <- e
		}
	})
	system.EventStream.Subscribe(func(e any) {
		if _, ok := e.(*supervisor.ChildDied); ok {
			supervisor.Crash(errors.New("a bad subscriber"))
		}
	})
	s := supervisor.Start(system, supervisor.Options{Name: "test", Clock: clock, WorkerTimeout: time.Second})
	t.Cleanup(func() { s.Stop(patience) })
	ref := add(t, s, script("a"))
	died := func(status int, restarting bool) {
		t.Helper()
		d, ok := actortest.Wait(t, "event", events).(*supervisor.ChildDied)
		if !ok || d.Death.Path != "test/a" || d.Death.Status != status || d.Restarting != restarting || d.PID == nil {
			t.Errorf("got %+v", d)
		}
	}
	failed := func(reason error, want actor.Directive) {
		t.Helper()
		f, ok := actortest.Wait(t, "event", events).(*actor.SupervisorEvent)
		if err, _ := f.Reason.(error); !ok || !errors.Is(err, reason) || f.Directive != want || f.Child == nil {
			t.Errorf("got %+v", f)
		}
	}
	restarted := func(n int) {
		t.Helper()
		if r, ok := actortest.Wait(t, "event", events).(*supervisor.ChildRestarted); !ok || r.Path != "test/a" ||
			r.Incarnation != n || r.PID == nil {
			t.Errorf("got %+v", r)
		}
	}
	ref.Send(boom())
	failed(errBoom, actor.RestartDirective)
	died(1, true)
	restarted(2)
	ref.Send(exit()) // not a failure
	died(0, true)
	restarted(3)
	release := hang(t, ref)
	for range 5 {
		tickOn(t, clock)
	}
	failed(supervisor.ErrAbandoned, actor.RestartDirective)
	died(-9, true)
	restarted(4)
	release()
	s.StopRestarting()
	ref.Send(boom())
	failed(errBoom, actor.StopDirective)
	died(1, false)
	system.Root.Send(system.NewLocalPID("nobody"), &numbered{1})
	if l, ok := actortest.Wait(t, "event", events).(*actor.DeadLetterEvent); !ok {
		t.Errorf("got %+v", l)
	}
	log.Await(t, "panic in a subscriber of the event stream")
}
