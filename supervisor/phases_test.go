package supervisor_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
)

// phased is the Spec of an actor that logs its questions; answer is called for each question.
func phased(name string, log lives, answer func(ctx supervisor.Context, done func())) supervisor.Spec {
	spec := script(name)
	inner := spec.New
	spec.New = func() supervisor.Actor {
		a := inner()
		return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
			switch m := ctx.Message().(type) {
			case *supervisor.CloseIntake:
				log <- name + " closes"
				answer(ctx, m.Done)
			case *supervisor.Flush:
				log <- name + " flushes"
				answer(ctx, m.Done)
			case *supervisor.Stopping:
				log <- name + " stops"
			default:
				a.Receive(ctx)
			}
		})
	}
	return spec
}

func names(phases []supervisor.Phase) (out []string) {
	for _, p := range phases {
		out = append(out, fmt.Sprint(p.Name, p.Late))
	}
	return out
}

// TestStopGoesInPhases: intake, mailboxes, stores, then the actors with their sockets, the last one started first.
func TestStopGoesInPhases(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	log := make(lives, 100)
	atOnce := func(_ supervisor.Context, done func()) { done() }
	store := phased("store", log, atOnce)
	store.Store = true
	storeRef := add(t, s, store)
	server := phased("server", log, func(_ supervisor.Context, done func()) { go done() })
	server.Intake = true
	server.New = nest(server.New, phased("worker", log, atOnce))
	add(t, s, server)
	worker, _ := s.Lookup("server/worker")
	release := hang(t, worker)
	// the worker's last work makes work for the store, which makes more work for itself
	worker.Send(&do{func(ctx supervisor.Context) {
		log <- "worker works"
		supervisor.Send(ctx, storeRef, &do{func(ctx supervisor.Context) {
			supervisor.Send(ctx, storeRef, &do{func(supervisor.Context) { log <- "store works" }})
		}})
	}})
	reports := make(chan supervisor.Report, 1)
	go func() { reports <- s.Stop(time.Minute) }()
	log.expect(t, "server closes")
	release()
	log.expect(t, "worker works", "store works", "store flushes", "worker stops", "server stops", "store stops")
	r := actortest.Wait(t, "report", reports)
	if got, want := names(r.Phases), []string{"intake closed[]", "mailboxes drained[]",
		"stores flushed[]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(r.Stopped) != 3 || len(r.Abandoned) != 0 || r.Took < r.Phases[1].Took {
		t.Errorf("got %+v", r)
	}
}

// TestStoreTakesTheLastMessages: messages that an actor sends while it stops reach the store, however busy the store
// is.
func TestStoreTakesTheLastMessages(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	log, release := make(lives, 100), make(chan struct{})
	store := phased("store", log, func(_ supervisor.Context, done func()) { done() })
	store.Store = true
	ref := add(t, s, store)
	last := script("last")
	inner := last.New
	last.New = func() supervisor.Actor {
		a := inner()
		return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
			if _, ok := ctx.Message().(*supervisor.Stopping); !ok {
				a.Receive(ctx)
				return
			}
			ref.Send(&do{func(supervisor.Context) { <-release }})
			ref.Send(&do{func(supervisor.Context) { log <- "store works" }})
		})
	}
	add(t, s, last)
	reports := make(chan supervisor.Report, 1)
	go func() { reports <- s.Stop(time.Minute) }()
	log.expect(t, "store flushes")
	for len(s.Snapshot()) > 1 { // until the last one has ended, and the store is told
		runtime.Gosched()
	}
	close(release)
	log.expect(t, "store works", "store stops")
	if r := actortest.Wait(t, "report", reports); len(r.Stopped) != 2 {
		t.Errorf("got %+v", r)
	}
}

// nest makes an actor own a subtree with one child.
func nest(make func() supervisor.Actor, below supervisor.Spec) func() supervisor.Actor {
	return func() supervisor.Actor {
		a := make()
		return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
			if _, ok := ctx.Message().(*supervisor.Started); ok {
				ref, err := supervisor.Nest(ctx, supervisor.Options{}).Add(below)
				if err == nil {
					err = ref.Ready(context.Background())
				}
				if err != nil {
					supervisor.Crash(err)
				}
			}
			a.Receive(ctx)
		})
	}
}

// awaitRest waits until actors have nothing to do.
func awaitRest(t testing.TB, refs ...*supervisor.Ref) {
	t.Helper()
	for limit := time.Now().Add(patience); slices.ContainsFunc(refs, func(ref *supervisor.Ref) bool {
		return !supervisor.Rests(ref)
	}); runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatal("an actor does not rest")
		}
	}
}

// TestPhasesHaveDeadlines: actors that are late are named, and the next phase begins.
func TestPhasesHaveDeadlines(t *testing.T) {
	clock, told := actortest.NewClock(), actortest.NewLog()
	s := supervisor.Start(supervisor.NewSystem(told.Logger()), supervisor.Options{Name: "test", Clock: clock,
		Logger: told.Logger()})
	log := make(lives, 100)
	never := func(supervisor.Context, func()) {}
	answered := make(chan bool, 2)
	var refs []*supervisor.Ref
	for _, name := range []string{"deaf", "good"} {
		spec := phased(name, log, never)
		if name == "good" {
			spec = phased(name, log, func(_ supervisor.Context, done func()) {
				done()
				answered <- true
			})
		}
		spec.Intake, spec.Store = true, true
		refs = append(refs, add(t, s, spec))
	}
	release := hang(t, add(t, s, script("hung")))
	defer release()
	reports := make(chan supervisor.Report, 1)
	go func() { reports <- s.Stop(8 * time.Second) }()
	closed := []string{actortest.Wait(t, "intake", log), actortest.Wait(t, "intake", log)}
	slices.Sort(closed)
	if want := []string{"deaf closes", "good closes"}; !slices.Equal(closed, want) {
		t.Errorf("got %q", closed)
	}
	actortest.Wait(t, "answer", answered)
	awaitRest(t, refs...) // otherwise they would be late with their mail
	clock.WaitTimer(t, time.Second)
	clock.Advance(time.Second) // the intake
	clock.WaitTimer(t, 2*time.Second)
	clock.Advance(2 * time.Second) // the mailboxes
	actortest.Wait(t, "answer", answered)
	clock.WaitTimer(t, time.Second)
	clock.Advance(time.Second) // the stores
	clock.WaitTimer(t, 4*time.Second)
	clock.Advance(2 * time.Second) // now all actors are told
	awaitNoChild(t, s, "good")
	awaitNoChild(t, s, "deaf")
	clock.Advance(2 * time.Second)
	r := actortest.Wait(t, "report", reports)
	if got, want := names(r.Phases), []string{"intake closed[test/deaf]", "mailboxes drained[test/hung]",
		"stores flushed[test/deaf]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !slices.Equal(r.Abandoned, []string{"test/hung"}) || r.Took != 8*time.Second {
		t.Errorf("abandoned %q after %s", r.Abandoned, r.Took)
	}
	told.Await(t, "WARN a phase of the stop was not over in time")
}

// TestDeadActorHoldsUpNoPhase: an actor dies of the question, or is already dead and not restarted.
func TestDeadActorHoldsUpNoPhase(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	log := make(lives, 100)
	dies := phased("dies", log, func(supervisor.Context, func()) { supervisor.Crash(errBoom) })
	dies.Intake, dies.Store = true, true
	ref := add(t, s, dies)
	refuses := script("refuses") // it has no case for the question
	refuses.Intake = true
	add(t, s, refuses)
	ref.Send(&do{func(supervisor.Context) {}})
	began := time.Now()
	r := s.Stop(10 * time.Minute)
	if late := names(r.Phases); time.Since(began) > time.Minute {
		t.Errorf("took %s: %q", time.Since(began), late)
	}
	if len(r.Abandoned) != 0 || len(r.Phases) != 3 || r.Phases[0].Late != nil || r.Phases[1].Late != nil {
		t.Errorf("got %+v", r)
	}
}

// TestPlainTreeHasNoPhases: it is stopped as ProcessManager stops its children.
func TestPlainTreeHasNoPhases(t *testing.T) {
	s := supervisor.Start(supervisor.NewSystem(slog.New(slog.DiscardHandler)), supervisor.Options{})
	ref := add(t, s, script("a"))
	release := hang(t, ref)
	gone := &lossy{why: make(chan error, 1)}
	ref.Send(gone)
	reports := make(chan supervisor.Report, 1)
	go func() { reports <- s.Stop(time.Minute) }()
	awaitState(t, s, "stopping")
	release()
	actortest.Wait(t, "loss of what waits", gone.why)
	if r := actortest.Wait(t, "report", reports); r.Phases != nil {
		t.Errorf("got %+v", r.Phases)
	}
}

// TestAddWhileDraining: restarting is off, but children that the last requests need are still started.
func TestAddWhileDraining(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	s.StopRestarting()
	job := add(t, s, script("Job"))
	if n := incarnation(t, job); n != 1 {
		t.Errorf("got incarnation %d", n)
	}
	job.Send(boom())
	awaitState(t, s, "dead")
}
