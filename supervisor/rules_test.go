package supervisor_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"
)

// TestEveryNameCanBeStarted: on 32-bit machines the registry panics on half of all ids.
func TestEveryNameCanBeStarted(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	for i := range 300 {
		ref := add(t, s, script(fmt.Sprintf("MWorker-%d", i)))
		ref.PID()
		tree, err := s.AddTree(fmt.Sprintf("tree-%d", i), supervisor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		add(t, tree, script("a"))
	}
}

// The rules of ProcessManager, one test each.

func TestRuleAddStartsAtOnceAndEntersTheMap(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{Name: "master"})
	ref := add(t, s, script("Maintenance"))
	all := s.Snapshot()
	if len(all) != 1 {
		t.Fatalf("got %d children, want 1", len(all))
	}
	c := all[0]
	if c.Name != "Maintenance" || c.Path != "master/Maintenance" || even(c.PID) != "Maintenance#1" ||
		c.State != stats.StateRunning || c.Incarnation != 1 {
		t.Errorf("got %s %s %s %s %d", c.Name, c.Path, c.PID, c.State, c.Incarnation)
	}
	if got, ok := s.Lookup("Maintenance"); !ok || got != ref {
		t.Errorf("Lookup: got %v, %v", got, ok)
	}
}

func TestRuleAnyDeathIsAnsweredByANewIncarnation(t *testing.T) {
	for _, tt := range []struct {
		name   string
		kill   func(ref *supervisor.Ref, system *supervisor.System)
		reason string
		status int
	}{
		{"panic", func(ref *supervisor.Ref, _ *supervisor.System) { ref.Send(boom()) }, "boom", 1},
		{"runtime error", func(ref *supervisor.Ref, _ *supervisor.System) {
			ref.Send(&do{func(supervisor.Context) { _ = []int{}[ref.Depth()] }})
		}, "index out of range", 1},
		{"self-stop", func(ref *supervisor.Ref, _ *supervisor.System) { ref.Send(exit()) }, "exit", 0},
		{"poison", func(ref *supervisor.Ref, system *supervisor.System) { system.Root.Poison(ref.PID()) }, "exit", 0},
		{"stop from outside", func(ref *supervisor.Ref, system *supervisor.System) {
			system.Root.Stop(ref.PID())
		}, "exit", 0},
		{"Goexit", func(ref *supervisor.Ref, _ *supervisor.System) {
			ref.Send(&do{func(supervisor.Context) { runtime.Goexit() }})
		}, "Goexit", 1},
		{"error in a goroutine", func(ref *supervisor.Ref, _ *supervisor.System) {
			ref.Send(&do{func(ctx supervisor.Context) {
				supervisor.Go(ctx, "loop", func(context.Context) error { return errBoom })
			}})
		}, "loop: boom", 1},
		{"panic in a goroutine", func(ref *supervisor.Ref, _ *supervisor.System) {
			ref.Send(&do{func(ctx supervisor.Context) {
				supervisor.Go(ctx, "loop", func(context.Context) error { panic("ouch") })
			}})
		}, "loop: ouch", 1},
		{"Goexit in a goroutine", func(ref *supervisor.Ref, _ *supervisor.System) {
			ref.Send(&do{func(ctx supervisor.Context) {
				supervisor.Go(ctx, "loop", func(context.Context) error { runtime.Goexit(); return nil })
			}})
		}, "loop: runtime.Goexit", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			deaths := make(chan stats.Death, 10)
			system := supervisor.NewSystem(actortest.NewLog().Logger())
			s := supervisor.Start(system, supervisor.Options{OnDeath: func(d stats.Death) { deaths <- d }})
			defer s.Stop(time.Minute)
			ref := add(t, s, script("a"))
			tt.kill(ref, system)
			d := actortest.Wait(t, "death", deaths)
			if !strings.Contains(d.Reason, tt.reason) || d.Status != tt.status || d.Incarnation != 1 {
				t.Errorf("death of %d: got %q, status %d, want %q, %d", d.Incarnation, d.Reason, d.Status, tt.reason,
					tt.status)
			}
			if n := incarnation(t, ref); n != 2 {
				t.Errorf("got incarnation %d, want 2", n)
			}
		})
	}
}

// TestRuleDeathWhileStartingOrStopping: at these times a death could leave an actor that is neither alive nor reported
// as dead.
func TestRuleDeathWhileStartingOrStopping(t *testing.T) {
	crashFirst := func(where func(msg any) bool) func(supervisor.Context) {
		return func(ctx supervisor.Context) {
			if where(ctx.Message()) && supervisor.Incarnation(ctx) == 1 {
				supervisor.Crash(errBoom)
			}
		}
	}
	started := func(msg any) bool { _, ok := msg.(*supervisor.Started); return ok }
	stopping := func(msg any) bool { _, ok := msg.(*supervisor.Stopping); return ok }
	stopped := func(msg any) bool { _, ok := msg.(*supervisor.Stopped); return ok }
	ending := func(msg any) bool { return stopping(msg) || stopped(msg) }
	for _, tt := range []struct {
		name  string
		where func(msg any) bool
		kill  any
	}{
		{"panic in Started", started, nil},
		{"panic in Stopping after a panic", stopping, boom()},
		{"panic in Stopping after a self-stop", stopping, exit()},
		{"panic in Stopped", stopped, exit()},
		{"panic in both", ending, boom()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := actortest.Start(t, supervisor.Options{})
			ref := add(t, s, scriptOn("a", crashFirst(tt.where)))
			if tt.kill != nil {
				ref.Send(tt.kill)
			}
			if n := incarnation(t, ref); n != 2 {
				t.Errorf("got incarnation %d, want 2", n)
			}
		})
	}
	t.Run("panic in New", func(t *testing.T) {
		s := actortest.Start(t, supervisor.Options{})
		tries := 0
		ref := add(t, s, supervisor.Spec{Name: "a", New: func() supervisor.Actor {
			if tries++; tries < 3 {
				supervisor.Crash(errBoom)
			}
			return &scripted{}
		}})
		if n := incarnation(t, ref); n != 3 {
			t.Errorf("got incarnation %d, want 3", n)
		}
	})
}

func TestRuleNoLimit(t *testing.T) {
	clock := actortest.NewClock()
	s := actortest.Start(t, supervisor.Options{Clock: clock})
	ref := add(t, s, script("a"))
	const deaths = 300
	for i := range deaths {
		clock.Advance(time.Second) // so that no death is quick
		ref.Send(boom())
		if n := incarnation(t, ref); n != i+2 {
			t.Fatalf("after %d deaths: got incarnation %d", i+1, n)
		}
	}
	if c := s.Snapshot()[0]; c.Restarts != deaths || c.Failed != deaths {
		t.Errorf("got %d restarts, %d failed, want %d", c.Restarts, c.Failed, deaths)
	}
}

func TestRuleBackOffAfterThreeQuickDeaths(t *testing.T) {
	clock := actortest.NewClock()
	s := actortest.Start(t, supervisor.Options{Clock: clock, RestartDelayMax: 7 * time.Millisecond})
	ref := add(t, s, script("a"))
	quick := func() { // the next incarnation starts although the clock stands still
		t.Helper()
		n := incarnation(t, ref)
		ref.Send(boom())
		if got := incarnation(t, ref); got != n+1 {
			t.Fatalf("got incarnation %d, want %d", got, n+1)
		}
	}
	slow := func(delay time.Duration) {
		t.Helper()
		ref.Send(boom())
		clock.WaitTimer(t, delay)
		awaitState(t, s, stats.StateBackoff) // shown when the timer is set
		if c := s.Snapshot()[0]; c.LastDeath.Delay != delay {
			t.Errorf("got delay %s", c.LastDeath.Delay)
		}
		clock.Advance(delay)
		incarnation(t, ref)
	}
	quick()
	quick()
	quick()
	slow(2 * time.Millisecond)
	slow(4 * time.Millisecond)
	slow(7 * time.Millisecond)
	slow(7 * time.Millisecond)
	clock.Advance(time.Second) // it has lived long enough
	for range 4 {              // the first of these deaths is not quick
		quick()
	}
	slow(2 * time.Millisecond)
}

func TestRuleUnknownDeathIsIgnoredAndCounted(t *testing.T) {
	log := actortest.NewLog()
	s := actortest.Start(t, supervisor.Options{Logger: log.Logger(), WaitForKill: time.Millisecond})
	ref := add(t, s, script("a"))
	release := hang(t, ref)
	if err := s.Restart("a"); err != nil {
		t.Fatal(err)
	}
	if n := incarnation(t, ref); n != 2 {
		t.Fatalf("got incarnation %d, want 2", n)
	}
	release() // now the abandoned one ends
	log.Await(t, "DEBUG a process that is not in the map has died")
	if s.Strays() != 1 {
		t.Errorf("got %d strays, want 1", s.Strays())
	}
	if n := incarnation(t, ref); n != 2 {
		t.Errorf("got incarnation %d, want 2", n)
	}
}

func TestRuleCheckChildren(t *testing.T) {
	clock := actortest.NewClock()
	system := supervisor.NewSystem(actortest.NewLog().Logger())
	s := supervisor.Start(system, supervisor.Options{Clock: clock})
	defer s.Stop(time.Minute)
	ref := add(t, s, script("a"))
	self := call(t, ref, func(ctx supervisor.Context) *supervisor.PID { return ctx.Self() })
	awaitRest(t, ref)                   // a sweep ignores a child that is working
	system.ProcessRegistry.Remove(self) // gone without notice
	sweep := func() {
		clock.WaitTimer(t, supervisor.DefaultSweepEvery)
		clock.Advance(supervisor.DefaultSweepEvery)
		clock.WaitTimer(t, supervisor.DefaultSweepEvery) // the sweep is over
	}
	sweep()
	if c := s.Snapshot()[0]; c.Incarnation != 1 {
		t.Errorf("restarted by the first sweep: the news of its death may have been under way")
	}
	sweep()
	if n := incarnation(t, ref); n != 2 {
		t.Errorf("got incarnation %d, want 2", n)
	}
	if c := s.Snapshot()[0]; c.Restarts != 1 {
		t.Errorf("got %d restarts, want 1", c.Restarts)
	}
}

func TestRuleKillChildrenInReverseOrderContextFirst(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	events := make(chan string, 100)
	for i := range 5 {
		add(t, s, scriptOn(fmt.Sprintf("c%d", i), func(ctx supervisor.Context) {
			if _, ok := ctx.Message().(*supervisor.Stopping); ok {
				events <- fmt.Sprintf("c%d stopping, %v", i, supervisor.Lifetime(ctx).Err())
			}
		}))
	}
	report := s.Stop(time.Minute)
	close(events)
	var got []string
	for e := range events {
		got = append(got, e)
	}
	var want []string
	for i := 4; i >= 0; i-- {
		want = append(want, fmt.Sprintf("c%d stopping, context canceled", i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []string{"test/c4", "test/c3", "test/c2", "test/c1", "test/c0"}; !slices.Equal(report.Stopped, want) ||
		len(report.Abandoned) > 0 {
		t.Errorf("got %+v", report)
	}
}

// TestRuleKillChildrenWakesAChildThatWaitsForItsContext: Stop alone would not reach it.
func TestRuleKillChildrenWakesAChildThatWaitsForItsContext(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	ref := add(t, s, script("a"))
	reached := make(chan struct{})
	ref.Send(&do{func(ctx supervisor.Context) { close(reached); <-supervisor.Lifetime(ctx).Done() }})
	actortest.Wait(t, "waiting handler", reached)
	if r := s.Stop(time.Minute); len(r.Abandoned) > 0 || len(r.Stopped) != 1 {
		t.Errorf("got %+v", r)
	}
}

func TestRuleKillChildrenAbandonsAndNamesTheStuck(t *testing.T) {
	clock := actortest.NewClock()
	s := supervisor.Start(supervisor.NewSystem(slog.New(slog.DiscardHandler)), supervisor.Options{Name: "test",
		Clock: clock})
	first := add(t, s, script("first"))
	add(t, s, script("second"))
	release := hang(t, first)
	defer release()
	third := add(t, s, script("third"))
	releaseThird := hang(t, third)
	defer releaseThird()

	done := make(chan supervisor.Report, 1)
	go func() { done <- s.Stop(8 * time.Second) }()
	clock.WaitTimer(t, 8*time.Second)
	clock.Advance(4 * time.Second) // third hangs: the order is given up
	awaitNoChild(t, s, "second")
	clock.Advance(4 * time.Second)
	r := actortest.Wait(t, "report", done)
	if want := []string{"test/third", "test/first"}; !slices.Equal(r.Abandoned, want) {
		t.Errorf("abandoned: got %q, want %q", r.Abandoned, want)
	}
	if want := []string{"test/second"}; !slices.Equal(r.Stopped, want) {
		t.Errorf("stopped: got %q, want %q", r.Stopped, want)
	}
	if !strings.Contains(r.Goroutines, "supervisor_test.hang") {
		t.Errorf("the dump does not show where they hang:\n%.2000s", r.Goroutines)
	}
	if r.Took != 8*time.Second {
		t.Errorf("took %s", r.Took)
	}
}

func TestRuleStopRestarting(t *testing.T) {
	clock := actortest.NewClock()
	log := actortest.NewLog()
	s := actortest.Start(t, supervisor.Options{Clock: clock, Logger: log.Logger()})
	ref := add(t, s, script("a"))
	waits := add(t, s, script("b"))
	for range 4 {
		incarnation(t, waits)
		waits.Send(boom())
	}
	clock.WaitTimer(t, 2*time.Millisecond)
	s.StopRestarting()
	ref.Send(exit())
	log.Await(t, "died with exit status 0")
	clock.Advance(2 * time.Millisecond)
	if err := s.Restart("a"); err != nil {
		t.Fatal(err)
	}
	r := s.Stop(time.Minute)
	if len(r.Stopped) != 2 {
		t.Errorf("got %+v", r)
	}
	for _, line := range log.Lines() {
		line = even(line)
		if strings.Contains(line, "a#2") || strings.Contains(line, "b#5") ||
			strings.Contains(line, "(a#1) died with exit status 0, restarting") {
			t.Errorf("restarted: %s", line)
		}
	}
}

func TestRuleSendSignalToProcesses(t *testing.T) {
	clock := actortest.NewClock()
	s := actortest.Start(t, supervisor.Options{Clock: clock})
	var got [2]chan int
	var refs [2]*supervisor.Ref
	for i := range refs {
		var spec supervisor.Spec
		spec, got[i], _ = collector(fmt.Sprintf("c%d", i))
		refs[i] = add(t, s, spec)
	}
	tree, err := s.AddTree("manager", supervisor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	below, inside, _ := collector("below") // Broadcast must not reach a manager's children
	add(t, tree, below)
	backOff(t, clock, refs[0])
	if n := s.Broadcast(&numbered{1}); n != 3 {
		t.Errorf("%d have taken it, want 3", n)
	}
	if n := actortest.Wait(t, "signal", got[1]); n != 1 || len(got[0]) != 0 {
		t.Errorf("got %d", n)
	}
	clock.Advance(time.Second)
	if n := actortest.Wait(t, "signal in the next life", got[0]); n != 1 || len(inside) != 0 {
		t.Errorf("got %d", n)
	}
}

func TestRuleLogLines(t *testing.T) {
	log := actortest.NewLog()
	s := actortest.Start(t, supervisor.Options{Logger: log.Logger()})
	ref := add(t, s, script("MWorker-0"))
	ref.Send(exit())
	incarnation(t, ref)
	ref.Send(boom())
	log.Await(t, "with pid MWorker-0#3")
	var got []string
	for _, line := range log.Lines() {
		if strings.Contains(line, "MWorker") {
			got = append(got, even(line))
		}
	}
	want := []string{
		"DEBUG Started 'MWorker-0' with pid MWorker-0#1",
		"DEBUG Process MWorker-0 (MWorker-0#1) died with exit status 0, restarting...",
		"DEBUG Started 'MWorker-0' with pid MWorker-0#2",
		"INFO Process MWorker-0 (MWorker-0#2) died with exit status 1, restarting...",
		"DEBUG Started 'MWorker-0' with pid MWorker-0#3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, line := range log.Lines() {
		if strings.Contains(line, "[ACTOR]") || strings.Contains(line, "actor system") {
			t.Errorf("the runtime speaks: %s", line)
		}
	}
}

func TestRuleDoneRemovesAJob(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	stopped := make(chan int, 10)
	on := func(ctx supervisor.Context) {
		if _, ok := ctx.Message().(*supervisor.Stopped); ok {
			stopped <- supervisor.Incarnation(ctx)
		}
	}
	job := add(t, s, scriptOn("Job-1", on))
	job.Send(boom()) // a job that dies before it is done is restarted
	if n := incarnation(t, job); n != 2 {
		t.Fatalf("got incarnation %d, want 2", n)
	}
	<-stopped
	job.Send(&do{func(ctx supervisor.Context) { supervisor.Of(ctx).Done(supervisor.Self(ctx).Name()) }})
	if n := actortest.Wait(t, "end of the job", stopped); n != 2 {
		t.Errorf("incarnation %d stopped, want 2", n)
	}
	again := func() bool {
		_, err := s.Add(script("Job-1"))
		return err == nil
	}
	for !again() { // until the name is free
		runtime.Gosched()
	}
	if job.Send(boom()) {
		t.Error("a forgotten job took a message")
	}
	if got := s.History(); len(got) != 1 {
		t.Errorf("got %d deaths, want the first one only: %+v", len(got), got)
	}
}
