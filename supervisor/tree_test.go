package supervisor_test

import (
	"context"
	"errors"
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

	"github.com/asynkron/protoactor-go/actor"
)

// lives collects the events of a tree's actors.
type lives chan string

func (l lives) tell(ctx supervisor.Context) {
	var what string
	switch ctx.Message().(type) {
	case *supervisor.Started:
		what = "starts"
	case *supervisor.Stopping:
		what = "stops"
	default:
		return
	}
	l <- fmt.Sprintf("%s#%d %s", supervisor.Self(ctx).Path(), supervisor.Incarnation(ctx), what)
}

func (l lives) expect(t testing.TB, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := actortest.Wait(t, w, l); got != w {
			t.Fatalf("got %q, want %q", got, w)
		}
	}
}

// server is the Spec of an actor that owns two workers, like ReqServer.
func server(t testing.TB, log lives, opt supervisor.Options) supervisor.Spec {
	return scriptOn("ReqServer", func(ctx supervisor.Context) {
		if _, ok := ctx.Message().(*supervisor.Started); ok {
			tree := supervisor.Nest(ctx, opt)
			for i := range 2 {
				ref, err := tree.Add(scriptOn(fmt.Sprintf("MWorker-%d", i), log.tell))
				if err != nil {
					t.Error(err)
					continue
				}
				limit, cancel := context.WithTimeout(context.Background(), time.Minute)
				if err := ref.Ready(limit); err != nil {
					t.Error(err)
				}
				cancel()
			}
		}
		log.tell(ctx)
	})
}

func started(n int) []string {
	var out []string
	for _, name := range []string{"/MWorker-0", "/MWorker-1", ""} {
		out = append(out, fmt.Sprintf("test/ReqServer%s#%d starts", name, n))
	}
	return out
}

func TestDeathOfTheOwnerTakesItsSubtree(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	log := make(lives, 100)
	ref := add(t, s, server(t, log, supervisor.Options{}))
	log.expect(t, started(1)...)
	worker, ok := s.Lookup("ReqServer/MWorker-0")
	if !ok {
		t.Fatal("worker not found")
	}
	ref.Send(boom())
	log.expect(t, "test/ReqServer#1 stops", "test/ReqServer/MWorker-1#1 stops", "test/ReqServer/MWorker-0#1 stops")
	log.expect(t, started(2)...)
	if worker.Send(boom()) {
		t.Error("a worker of the old subtree took a message")
	}
	again, ok := s.Lookup("ReqServer/MWorker-0")
	if !ok || again == worker {
		t.Errorf("the new subtree has the old worker: %v", ok)
	}
	incarnation(t, again)
}

// TestSubtreeKeepsItsHistory: the counters of a worker survive the death of its server, except for a worker that was
// done.
func TestSubtreeKeepsItsHistory(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	log := make(lives, 100)
	ref := add(t, s, server(t, log, supervisor.Options{}))
	log.expect(t, started(1)...)
	worker, _ := s.Lookup("ReqServer/MWorker-0")
	worker.Send(boom())
	log.expect(t, "test/ReqServer/MWorker-0#1 stops", "test/ReqServer/MWorker-0#2 starts")
	worker.Send(&numbered{1})
	incarnation(t, worker)
	before, _ := child(s.Snapshot(), "ReqServer/MWorker-0")
	call(t, ref, func(ctx supervisor.Context) bool {
		supervisor.Nest(ctx, supervisor.Options{}).Done("MWorker-1")
		return true
	})
	log.expect(t, "test/ReqServer/MWorker-1#1 stops")
	for { // until it is removed
		if _, there := s.Lookup("ReqServer/MWorker-1"); !there {
			break
		}
		runtime.Gosched()
	}
	ref.Send(boom())
	log.expect(t, "test/ReqServer#1 stops", "test/ReqServer/MWorker-0#2 stops")
	log.expect(t, "test/ReqServer/MWorker-0#3 starts", "test/ReqServer/MWorker-1#1 starts", "test/ReqServer#2 starts")
	after, _ := child(s.Snapshot(), "ReqServer/MWorker-0")
	if after.Incarnation != 3 || after.Restarts != 2 || after.RestartsHour != 2 || after.Received != before.Received ||
		after.Handling.Count < before.Handling.Count ||
		after.LastDeath == nil || after.LastDeath.Reason != "boom" || after.DeadLetters["unhandled"] != 1 ||
		after.DeadLetters["crashed"] != 1 {
		t.Errorf("got %+v, was %+v", after, before)
	}
	if c, _ := child(s.Snapshot(), "ReqServer/MWorker-1"); c.Restarts != 0 || c.LastDeath != nil {
		t.Errorf("the one that was done: %+v", c)
	}
}

func TestWorkerDiesAlone(t *testing.T) {
	deaths := make(chan stats.Death, 10)
	s := actortest.Start(t, supervisor.Options{OnDeath: func(d stats.Death) { deaths <- d }})
	log := make(lives, 100)
	add(t, s, server(t, log, supervisor.Options{}))
	log.expect(t, started(1)...)
	worker, _ := s.Lookup("ReqServer/MWorker-1")
	worker.Send(boom())
	log.expect(t, "test/ReqServer/MWorker-1#1 stops", "test/ReqServer/MWorker-1#2 starts")
	if d := actortest.Wait(t, "death told to the root", deaths); d.Path != "test/ReqServer/MWorker-1" {
		t.Errorf("got %+v", d)
	}
	if err := s.Restart("ReqServer/MWorker-0"); err != nil {
		t.Fatal(err)
	}
	log.expect(t, "test/ReqServer/MWorker-0#1 stops", "test/ReqServer/MWorker-0#2 starts")
	tree := s.Snapshot()
	if len(tree) != 1 || len(tree[0].Children) != 2 || tree[0].Restarts != 0 || tree[0].Children[1].Restarts != 1 {
		t.Errorf("got %+v", tree)
	}
	history := s.History()
	if len(history) != 2 || history[0].Path != "test/ReqServer/MWorker-1" || history[1].Reason != "restart" {
		t.Errorf("got %+v", history)
	}
}

func TestStopTakesTheSubtreeBeforeItsOwner(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	log := make(lives, 100)
	add(t, s, scriptOn("first", log.tell))
	log.expect(t, "test/first#1 starts")
	add(t, s, server(t, log, supervisor.Options{}))
	log.expect(t, started(1)...)
	r := s.Stop(time.Minute)
	log.expect(t, "test/ReqServer/MWorker-1#1 stops", "test/ReqServer/MWorker-0#1 stops", "test/ReqServer#1 stops",
		"test/first#1 stops")
	want := []string{"test/ReqServer/MWorker-1", "test/ReqServer/MWorker-0", "test/ReqServer", "test/first"}
	if !slices.Equal(r.Stopped, want) || len(r.Abandoned) > 0 {
		t.Errorf("got %+v", r)
	}
}

func TestStuckWorkerHoldsItsOwnerOnlySoLong(t *testing.T) {
	clock := actortest.NewClock()
	s := supervisor.Start(supervisor.NewSystem(slog.New(slog.DiscardHandler)), supervisor.Options{Name: "test",
		Clock: clock, WaitForKill: 4 * time.Second})
	log := make(lives, 100)
	add(t, s, server(t, log, supervisor.Options{}))
	log.expect(t, started(1)...)
	worker, _ := s.Lookup("ReqServer/MWorker-0")
	release := hang(t, worker)
	defer release()
	if err := s.Restart("ReqServer"); err != nil {
		t.Fatal(err)
	}
	log.expect(t, "test/ReqServer/MWorker-1#1 stops")
	awaitChild(t, s, "ReqServer/MWorker-0", stats.StateStopping)
	clock.Advance(3 * time.Second) // the workers get three quarters of the owner's time
	log.expect(t, "test/ReqServer#1 stops")
	log.expect(t, started(2)...)
	worker, _ = s.Lookup("ReqServer/MWorker-1")
	releaseSecond := hang(t, worker)
	defer releaseSecond()
	reports := make(chan supervisor.Report, 1)
	go func() { reports <- s.Stop(8 * time.Second) }()
	clock.WaitTimer(t, 6*time.Second)
	clock.Advance(3 * time.Second) // now the other worker is told too
	log.expect(t, "test/ReqServer/MWorker-0#2 stops")
	awaitNoChild(t, s, "ReqServer/MWorker-0")
	clock.Advance(3 * time.Second)
	r := actortest.Wait(t, "report", reports)
	if !slices.Equal(r.Abandoned, []string{"test/ReqServer/MWorker-1"}) || !slices.Contains(r.Stopped,
		"test/ReqServer") {
		t.Errorf("got stopped %v, abandoned %v", r.Stopped, r.Abandoned)
	}
}

func TestAddTree(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	log := make(lives, 100)
	tree, err := s.AddTree("engines", supervisor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := add(t, tree, scriptOn("a", log.tell)), add(t, tree, scriptOn("b", log.tell))
	log.expect(t, "test/engines/a#1 starts", "test/engines/b#1 starts")
	release := hang(t, a)
	a.Send(&do{func(supervisor.Context) { log <- "kept" }})
	if err := s.Restart("engines"); err != nil {
		t.Fatal(err)
	}
	log.expect(t, "test/engines/b#1 stops")
	awaitChild(t, s, "engines/a", stats.StateStopping)
	release()
	log.expect(t, "test/engines/a#1 stops")
	var rest []string
	for range 3 {
		rest = append(rest, actortest.Wait(t, "life", log))
	}
	slices.Sort(rest)
	if want := []string{"kept", "test/engines/a#2 starts", "test/engines/b#2 starts"}; !slices.Equal(rest, want) {
		t.Errorf("got %q, want %q", rest, want)
	}
	if incarnation(t, b) != 2 {
		t.Error("b was not restarted")
	}
	if _, err := s.AddTree("engines", supervisor.Options{}); !errors.Is(err, supervisor.ErrNameTaken) {
		t.Errorf("got %v", err)
	}
	s.Done("engines")
	for a.Send(boom()) || b.Send(boom()) {
		runtime.Gosched()
	}
	for {
		if _, err := tree.Add(script("c")); errors.Is(err, supervisor.ErrStopped) {
			break
		}
		runtime.Gosched()
	}
}

// TestNextIncarnationWaitsForGoroutines: a port is bound again only after it was released.
func TestNextIncarnationWaitsForGoroutines(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	log := make(lives, 100)
	let := make(chan struct{})
	defer close(let)
	ref := add(t, s, scriptOn("Publisher", func(ctx supervisor.Context) {
		log.tell(ctx)
		if _, ok := ctx.Message().(*supervisor.Started); ok {
			supervisor.Go(ctx, "socket", func(ctx context.Context) error {
				<-ctx.Done()
				log <- "closing"
				<-let
				log <- "closed"
				return ctx.Err()
			})
		}
	}))
	ref.Send(boom())
	log.expect(t, "test/Publisher#1 starts")
	both := []string{actortest.Wait(t, "end", log), actortest.Wait(t, "end", log)}
	slices.Sort(both)
	if want := []string{"closing", "test/Publisher#1 stops"}; !slices.Equal(both, want) {
		t.Errorf("got %q, want %q", both, want)
	}
	awaitState(t, s, stats.StateRestarting)
	let <- struct{}{}
	log.expect(t, "closed", "test/Publisher#2 starts")
}

func TestStuckGoroutineIsNamed(t *testing.T) {
	s := supervisor.Start(supervisor.NewSystem(slog.New(slog.DiscardHandler)), supervisor.Options{Name: "test"})
	let := make(chan struct{})
	defer close(let)
	ref := add(t, s, script("a"))
	call(t, ref, func(ctx supervisor.Context) bool {
		supervisor.Go(ctx, "socket", func(context.Context) error { <-let; return nil })
		return true
	})
	r := s.Stop(20 * time.Millisecond)
	if !slices.Equal(r.Abandoned, []string{"test/a [socket]"}) {
		t.Errorf("got %+v", r.Abandoned)
	}
}

func TestStopTwiceAndAfter(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	log := make(lives, 100)
	add(t, s, server(t, log, supervisor.Options{}))
	reports := make(chan supervisor.Report, 2)
	for range 2 {
		go func() { reports <- s.Stop(time.Minute) }()
	}
	for range 2 {
		if r := actortest.Wait(t, "report", reports); len(r.Stopped) != 3 {
			t.Errorf("got %+v", r)
		}
	}
	if _, err := s.Add(script("late")); !errors.Is(err, supervisor.ErrStopped) {
		t.Errorf("got %v", err)
	}
	if err := s.Restart("ReqServer"); !errors.Is(err, supervisor.ErrUnknown) {
		t.Errorf("got %v", err)
	}
	if len(s.Snapshot()) != 0 {
		t.Errorf("got %+v", s.Snapshot())
	}
	s.Done("ReqServer")
}

func TestAddRefuses(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	add(t, s, script("a"))
	for _, spec := range []supervisor.Spec{{}, {Name: "x"}, script("a/b"), script("a#b"), script("")} {
		if _, err := s.Add(spec); err == nil {
			t.Errorf("added %q", spec.Name)
		}
	}
	if _, err := s.Add(script("a")); !errors.Is(err, supervisor.ErrNameTaken) {
		t.Errorf("got %v", err)
	}
}

func TestInject(t *testing.T) {
	quiet := actortest.Start(t, supervisor.Options{})
	add(t, quiet, script("a"))
	if err := quiet.Inject("a", supervisor.FaultPanic); !errors.Is(err, supervisor.ErrNoChaos) {
		t.Errorf("got %v", err)
	}
	s := actortest.Start(t, supervisor.Options{Chaos: true, WaitForKill: time.Millisecond})
	ref := add(t, s, script("a"))
	for i, how := range []supervisor.Fault{supervisor.FaultPanic, supervisor.FaultExit} {
		if err := s.Inject("a", how); err != nil {
			t.Fatal(err)
		}
		for incarnation(t, ref) != i+2 {
			runtime.Gosched()
		}
	}
	if err := s.Inject("a", supervisor.FaultHang); err != nil {
		t.Fatal(err)
	}
	for s.Snapshot()[0].InHand == "" {
		runtime.Gosched()
	}
	if err := s.Restart("a"); err != nil {
		t.Fatal(err)
	}
	if n := incarnation(t, ref); n != 4 {
		t.Errorf("got incarnation %d, want 4", n)
	}
	for _, tt := range []struct{ path, how string }{{"b", "panic"}, {"a", "explode"}, {"a/b", "exit"}} {
		if err := s.Inject(tt.path, supervisor.Fault(tt.how)); err == nil {
			t.Errorf("harmed %s with %s", tt.path, tt.how)
		}
	}
}

func TestReady(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	let := make(chan struct{})
	ref, err := s.Add(scriptOn("a", func(ctx supervisor.Context) {
		if _, ok := ctx.Message().(*supervisor.Started); ok {
			<-let
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithCancelCause(context.Background())
	cancel(errBoom)
	if err := ref.Ready(short); !errors.Is(err, errBoom) {
		t.Errorf("got %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- ref.Ready(context.Background()) }()
	close(let)
	if err := actortest.Wait(t, "start", done); err != nil {
		t.Error(err)
	}
	never, err := s.Add(scriptOn("b", func(ctx supervisor.Context) { supervisor.Crash(errBoom) }))
	if err != nil {
		t.Fatal(err)
	}
	go func() { done <- never.Ready(context.Background()) }()
	s.Done("b")
	if err := actortest.Wait(t, "end", done); !errors.Is(err, supervisor.ErrGone) {
		t.Errorf("got %v", err)
	}
}

func TestAskErrors(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	ref := add(t, s, script("a"))
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errBoom)
	ask := func() error {
		_, err := supervisor.Ask(ctx, ref, func(chan<- int) any { return &do{func(supervisor.Context) {}} })
		return err
	}
	if err := ask(); !errors.Is(err, errBoom) {
		t.Errorf("got %v", err)
	}
	s.Stop(time.Minute)
	if err := ask(); !errors.Is(err, supervisor.ErrGone) {
		t.Errorf("got %v", err)
	}
}

// TestAskIsRefusedAtOnce: Ask does not wait for an answer that can no longer come.
func TestAskIsRefusedAtOnce(t *testing.T) {
	ask := func(ref *supervisor.Ref, f func(ctx supervisor.Context, reply chan<- int)) (int, error) {
		return supervisor.Ask(t.Context(), ref, func(reply chan<- int) any {
			return &do{func(ctx supervisor.Context) { f(ctx, reply) }}
		})
	}
	s := actortest.Start(t, supervisor.Options{WaitForKill: time.Millisecond})
	ref := add(t, s, script("a"))
	if _, err := ask(ref, func(supervisor.Context, chan<- int) {
		supervisor.Crash(errBoom)
	}); !errors.Is(err, supervisor.ErrCrashed) || !strings.Contains(err.Error(), "boom") {
		t.Errorf("crashed: got %v", err)
	}
	if n, err := ask(ref, func(_ supervisor.Context, reply chan<- int) {
		reply <- 7
		supervisor.Crash(errBoom)
	}); n != 7 && !errors.Is(err, supervisor.ErrCrashed) {
		t.Errorf("answered before the crash: got %d, %v", n, err)
	}
	over, reached := make(chan struct{}), make(chan struct{})
	defer close(over)
	hung := make(chan error, 1)
	go func() {
		_, err := ask(ref, func(supervisor.Context, chan<- int) { close(reached); <-over })
		hung <- err
	}()
	actortest.Wait(t, "hanging handler", reached)
	if err := s.Restart("a"); err != nil {
		t.Fatal(err)
	}
	if err := actortest.Wait(t, "refusal", hung); !errors.Is(err, supervisor.ErrAbandoned) {
		t.Errorf("abandoned: got %v", err)
	}
	if _, err := supervisor.Ask(t.Context(), ref, func(chan<- int) any {
		return &numbered{1}
	}); !errors.Is(err, supervisor.ErrUnhandled) {
		t.Errorf("unhandled: got %v", err)
	}
}

// TestRequestIsRefused: an actor that sends a request with protoactor's functions gets the same answer as for a dead
// process.
func TestRequestIsRefused(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	ref := add(t, s, script("a"))
	refused := make(chan string, 1)
	asker := add(t, s, supervisor.Spec{Name: "asker", New: func() supervisor.Actor {
		inner := &scripted{}
		return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
			if m, ok := ctx.Message().(*actor.DeadLetterResponse); ok {
				refused <- m.Target.Id
				return
			}
			inner.Receive(ctx)
		})
	}})
	call(t, asker, func(ctx supervisor.Context) bool { ctx.Request(ref.PID(), boom()); return true })
	if id := actortest.Wait(t, "refusal", refused); id != ref.Path() {
		t.Errorf("got %s", id)
	}
}

func TestUnsupervised(t *testing.T) {
	log := actortest.NewLog()
	system := supervisor.NewSystem(log.Logger())
	done := make(chan string, 1)
	pid := system.Root.Spawn(actor.PropsFromFunc(func(ctx supervisor.Context) {
		m, ok := ctx.Message().(*do)
		if !ok {
			supervisor.Unhandled(ctx)
			return
		}
		m.f(ctx)
	}))
	system.Root.Send(pid, &do{func(ctx supervisor.Context) {
		supervisor.Note(ctx, "x")
		supervisor.Failed(ctx)
		tree := supervisor.Nest(ctx, supervisor.Options{})
		go tree.Stop(time.Minute)
		supervisor.Go(ctx, "x", func(context.Context) error { return errBoom })
		done <- fmt.Sprint(supervisor.Lifetime(ctx).Err(), supervisor.Self(ctx) == nil, supervisor.Of(ctx) == nil,
			supervisor.Incarnation(ctx))
	}})
	if got := actortest.Wait(t, "answer", done); got != "<nil> true true 1" {
		t.Errorf("got %s", got)
	}
	system.Root.Send(pid, &numbered{1})
	log.Await(t, "unhandled message")
	log.Await(t, "WARN goroutine ended")
	system.Root.Stop(pid)
}

// TestDeathDuringStopIsFinal: an actor that dies before it is told to end is removed.
func TestDeathDuringStopIsFinal(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	spec, _, lost := collector("a")
	a := add(t, s, spec)
	tree, err := s.AddTree("group", supervisor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	leaf := add(t, tree, script("leaf"))
	group, _ := s.Lookup("group")
	release := hang(t, add(t, s, script("b")))
	done := make(chan supervisor.Report, 1)
	go func() { done <- s.Stop(time.Minute) }()
	awaitChild(t, s, "b", stats.StateStopping)
	a.Send(boom())
	a.Send(&numbered{1})
	if l := actortest.Wait(t, "loss", lost); !errors.Is(l.why, supervisor.ErrCrashed) {
		t.Errorf("lost %T: %v", l.msg, l.why)
	}
	if l := actortest.Wait(t, "loss", lost); !errors.Is(l.why, supervisor.ErrGone) {
		t.Errorf("lost %T: %v", l.msg, l.why)
	}
	call(t, leaf, func(ctx supervisor.Context) bool { ctx.Stop(group.PID()); return true })
	for leaf.Send(&do{func(supervisor.Context) {}}) { // its tree ends with the group
		runtime.Gosched()
	}
	release()
	if r := actortest.Wait(t, "report", done); len(r.Stopped) != 4 || len(r.Abandoned) != 0 {
		t.Errorf("got %+v", r)
	}
}

// TestHaltBecomesFinal: Done is called for a group that is being restarted.
func TestHaltBecomesFinal(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	tree, err := s.AddTree("group", supervisor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, second := add(t, tree, script("first")), add(t, tree, script("second"))
	group, _ := s.Lookup("group")
	if err := group.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	release := hang(t, first)
	if err := s.Restart("group"); err != nil {
		t.Fatal(err)
	}
	awaitChild(t, s, "group/second", stats.StateStopped)
	if !second.Send(&do{func(supervisor.Context) {}}) {
		t.Error("a child that rests takes no message")
	}
	s.Done("group")
	poison(t, s, group)
	for second.Send(&do{func(supervisor.Context) {}}) { // at rest it accepts messages, gone it does not
		runtime.Gosched()
	}
	release()
	for {
		if _, there := s.Lookup("group"); !there {
			break
		}
		runtime.Gosched()
	}
	if first.Send(boom()) {
		t.Error("the first is still there")
	}
}
