package supervisor_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
	"brine/supervisor/stats"

	"github.com/asynkron/protoactor-go/actor"
)

// numbered is a message with a number; lossy reports when it is lost.
type numbered struct{ n int }

type lossy struct{ why chan error }

func (l *lossy) Lost(why error) { l.why <- why }

// loss is a call of a Spec's OnLost.
type loss struct {
	msg any
	why error
}

// collector is the Spec of an actor that sends numbered messages to got and reports losses.
func collector(name string) (spec supervisor.Spec, got chan int, lost chan loss) {
	got, lost = make(chan int, 1000), make(chan loss, 1000)
	spec = script(name)
	inner := spec.New
	spec.New = func() supervisor.Actor {
		a := inner()
		return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
			if m, ok := ctx.Message().(*numbered); ok {
				got <- m.n
				return
			}
			a.Receive(ctx)
		})
	}
	spec.OnLost = func(msg any, why error) { lost <- loss{msg, why} }
	return spec, got, lost
}

// awaitState waits until the first child is in a state.
func awaitState(t testing.TB, s *supervisor.Supervisor, state string) {
	t.Helper()
	limit := time.Now().Add(patience)
	for s.Snapshot()[0].State != state {
		if runtime.Gosched(); time.Now().After(limit) {
			t.Fatalf("state %s, want %s", s.Snapshot()[0].State, state)
		}
	}
}

func take(t testing.TB, got <-chan int, n int) []int {
	t.Helper()
	var out []int
	for range n {
		out = append(out, actortest.Wait(t, "message", got))
	}
	return out
}

// backOff makes the child die until its next start waits for the clock.
func backOff(t testing.TB, clock *actortest.Clock, ref *supervisor.Ref) {
	t.Helper()
	for range 4 {
		incarnation(t, ref)
		ref.Send(boom())
	}
	clock.WaitTimer(t, 2*time.Millisecond)
}

func TestMessagesWaitForTheNextIncarnation(t *testing.T) {
	clock := actortest.NewClock()
	s := actortest.Start(t, supervisor.Options{Clock: clock})
	spec, got, lost := collector("a")
	spec.Hold = 3
	ref := add(t, s, spec)
	backOff(t, clock, ref)
	for range 4 {
		actortest.Wait(t, "loss of a boom", lost)
	}
	for n := range 3 {
		if !ref.Send(&numbered{n}) {
			t.Fatalf("message %d refused", n)
		}
	}
	if ref.Send(&numbered{3}) {
		t.Error("a message beyond Hold was taken")
	}
	if l := actortest.Wait(t, "loss", lost); l.msg.(*numbered).n != 3 || !errors.Is(l.why, supervisor.ErrMailboxFull) {
		t.Errorf("lost %v: %v", l.msg, l.why)
	}
	clock.Advance(time.Minute)
	if c := s.Snapshot()[0]; c.Mailbox > 3 || c.Lost != 5 {
		t.Errorf("got %d waiting, %d lost", c.Mailbox, c.Lost)
	}
	if out := take(t, got, 3); !slices.Equal(out, []int{0, 1, 2}) {
		t.Errorf("got %v", out)
	}
}

func TestMessageInHandIsLostTheOthersStay(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	spec, got, lost := collector("a")
	ref := add(t, s, spec)
	release := hang(t, ref)
	ref.Send(&numbered{1})
	ref.Send(boom())
	ref.Send(&numbered{2})
	ref.Send(&numbered{3})
	release()
	if out := take(t, got, 3); !slices.Equal(out, []int{1, 2, 3}) {
		t.Errorf("got %v", out)
	}
	l := actortest.Wait(t, "loss", lost)
	if _, isDo := l.msg.(*do); !isDo || !errors.Is(l.why, supervisor.ErrCrashed) || !strings.Contains(l.why.Error(),
		"boom") {
		t.Errorf("lost %T: %v", l.msg, l.why)
	}
	d := s.Snapshot()[0].LastDeath
	if d == nil || d.Message != "*supervisor_test.do" || d.Reason != "boom" || !strings.Contains(d.Stack,
		"boom.func1(") || strings.Contains(d.Stack, "guard") {
		t.Errorf("got %+v", d)
	}
}

func TestDropQueued(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	spec, got, lost := collector("a")
	spec.DropQueued = true
	ref := add(t, s, spec)
	release := hang(t, ref)
	ref.Send(boom())
	ref.Send(&numbered{1})
	ref.Send(&numbered{2})
	release()
	want := []error{supervisor.ErrCrashed, supervisor.ErrDropped, supervisor.ErrDropped}
	for _, why := range want {
		if l := actortest.Wait(t, "loss", lost); !errors.Is(l.why, why) {
			t.Errorf("lost %T: %v, want %v", l.msg, l.why, why)
		}
	}
	ref.Send(&numbered{3})
	if out := take(t, got, 1); out[0] != 3 {
		t.Errorf("got %v", out)
	}
}

func TestLimit(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	spec, got, lost := collector("a")
	spec.Limit = 2
	ref := add(t, s, spec)
	release := hang(t, ref)
	for n := range 4 {
		ref.Send(&numbered{n})
	}
	if ref.Depth() != 2 {
		t.Errorf("got depth %d, want 2", ref.Depth())
	}
	release()
	for _, n := range []int{2, 3} {
		if l := actortest.Wait(t, "loss", lost); l.msg.(*numbered).n != n ||
			!errors.Is(l.why, supervisor.ErrMailboxFull) {
			t.Errorf("lost %v: %v", l.msg, l.why)
		}
	}
	if out := take(t, got, 2); !slices.Equal(out, []int{0, 1}) {
		t.Errorf("got %v", out)
	}
}

func TestMessagesToAnEndedChildAreLost(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	spec, _, lost := collector("a")
	ref := add(t, s, spec)
	pid := ref.PID()
	release := hang(t, ref)
	ref.Send(&numbered{1})
	s.Done("a")
	awaitState(t, s, stats.StateStopping)
	release()
	if l := actortest.Wait(t, "loss", lost); l.msg.(*numbered).n != 1 || !errors.Is(l.why, supervisor.ErrGone) {
		t.Errorf("lost %v: %v", l.msg, l.why)
	}
	if ref.Send(&numbered{2}) {
		t.Error("sent to the dead")
	}
	if l := actortest.Wait(t, "loss", lost); l.msg.(*numbered).n != 2 || !errors.Is(l.why, supervisor.ErrGone) {
		t.Errorf("lost %v: %v", l.msg, l.why)
	}
	letters := call(t, add(t, s, script("b")), func(ctx supervisor.Context) uint64 {
		ctx.Send(pid, &numbered{3})
		return supervisor.DeadLetters(ctx.ActorSystem())
	})
	if letters != 1 {
		t.Errorf("got %d dead letters, want 1", letters)
	}
}

func TestAbandonedMessageIsLostOnceAndItsLateEndChangesNothing(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{WaitForKill: time.Millisecond})
	spec, got, lost := collector("a")
	ref := add(t, s, spec)
	release := hang(t, ref)
	ref.Send(&numbered{1})
	if err := s.Restart("a"); err != nil {
		t.Fatal(err)
	}
	if out := take(t, got, 1); out[0] != 1 {
		t.Errorf("got %v", out)
	}
	if l := actortest.Wait(t, "loss", lost); !errors.Is(l.why, supervisor.ErrAbandoned) {
		t.Errorf("lost %T: %v", l.msg, l.why)
	}
	before := s.Snapshot()[0]
	release()
	for s.Strays() == 0 {
		incarnation(t, ref)
	}
	after := s.Snapshot()[0]
	if after.Lost != before.Lost || after.Incarnation != 2 || after.Abandoned != 1 || len(lost) != 0 {
		t.Errorf("got %+v", after)
	}
	if d := after.LastDeath; d.Status != -9 || d.Reason != "did not stop within 1ms" {
		t.Errorf("got %+v", d)
	}
	if n := after.Received - after.Lost; after.Handling.Count != n && after.Handling.Count != n-1 {
		// the last one may not be counted yet
		t.Errorf("handled %d of %d, lost %d", after.Handling.Count, after.Received, after.Lost)
	}
}

func TestLoserIsTold(t *testing.T) {
	log := actortest.NewLog()
	system := supervisor.NewSystem(log.Logger())
	s := supervisor.Start(system, supervisor.Options{})
	defer s.Stop(time.Minute)
	ref := add(t, s, script("a"))
	l := &lossy{why: make(chan error, 1)}
	ref.Send(l)
	if why := actortest.Wait(t, "loss", l.why); !errors.Is(why, supervisor.ErrUnhandled) {
		t.Errorf("got %v", why)
	}
	if c := s.Snapshot()[0]; c.Unhandled != 1 || c.Lost != 1 {
		t.Errorf("got %d unhandled, %d lost", c.Unhandled, c.Lost)
	}
	log.Await(t, "WARN unhandled message")
	system.Root.Send(system.NewLocalPID("absent"), l)
	if why := actortest.Wait(t, "loss", l.why); !errors.Is(why, supervisor.ErrGone) {
		t.Errorf("got %v", why)
	}
	if n := supervisor.DeadLetters(system); n != 1 {
		t.Errorf("got %d dead letters, want 1", n)
	}
	if ref.Send(nil) {
		t.Error("a nil message was taken")
	}
}

func TestPanicInLossHook(t *testing.T) {
	log := actortest.NewLog()
	s := actortest.Start(t, supervisor.Options{Logger: log.Logger()})
	spec := script("a")
	spec.OnLost = func(any, error) { panic("ouch") }
	ref := add(t, s, spec)
	ref.Send(boom())
	if n := incarnation(t, ref); n != 2 {
		t.Errorf("got incarnation %d", n)
	}
	log.Await(t, "ERROR panic in a loss hook")
}

func TestPIDStaysValid(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	ref := add(t, s, script("a"))
	probe := actortest.NewLifecycleProbe()
	other := add(t, s, supervisor.Spec{Name: "probe", New: probe.New})
	ref.Send(boom())
	incarnation(t, ref)
	// a request through the PID, answered to the PID
	call(t, add(t, s, script("c")), func(ctx supervisor.Context) bool {
		seven := func(ctx supervisor.Context) { ctx.Respond(&numbered{7}) }
		ctx.RequestWithCustomSender(ref.PID(), &do{seven}, other.PID())
		return true
	})
	if m := actortest.Find[*numbered](t, probe); m.n != 7 {
		t.Errorf("got %d", m.n)
	}
	if first, second := ref.PID(), ref.PID(); first != second {
		t.Error("PID changes")
	}
	// an actor that watches the PID gets the next end
	call(t, other2(t, s, ref, probe), func(supervisor.Context) bool { return true })
	ref.Send(exit())
	actortest.Find[*actor.Terminated](t, probe)
}

// other2 is a child that watches ref and passes its messages to probe.
func other2(t *testing.T, s *supervisor.Supervisor, ref *supervisor.Ref, probe *actortest.Probe) *supervisor.Ref {
	t.Helper()
	return add(t, s, supervisor.Spec{Name: "watcher", New: func() supervisor.Actor {
		inner := &scripted{}
		return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
			switch ctx.Message().(type) {
			case *supervisor.Started:
				ctx.Watch(ref.PID())
			case *actor.Terminated:
				probe.Receive(ctx)
			case *do:
				inner.Receive(ctx)
			}
		})
	}})
}

// TestNoMessageIsLostInSilence sends from many goroutines to a child that keeps crashing, exiting, hanging and being
// restarted. Every message is handled or reported, and the messages of one sender come in order.
func TestNoMessageIsLostInSilence(t *testing.T) {
	const senders, each = 8, 3000
	s := actortest.Start(t, supervisor.Options{RestartDelayMax: time.Millisecond, WaitForKill: 2 * time.Millisecond})
	type tagged struct{ sender, n int }
	var mu sync.Mutex
	seen := make(map[tagged]string)
	lastOf := [senders]int{}
	for i := range lastOf {
		lastOf[i] = -1
	}
	var left sync.WaitGroup
	left.Add(senders * each)
	note := func(m *tagged, how string) {
		mu.Lock()
		defer mu.Unlock()
		if before, twice := seen[*m]; twice { // an abandoned handler may still finish
			if hung := supervisor.ErrAbandoned.Error(); how != hung && before != hung {
				t.Errorf("%v %s, was %s before", *m, how, before)
			}
			return
		}
		if seen[*m] = how; how == "handled" {
			if m.n <= lastOf[m.sender] {
				t.Errorf("sender %d: %d after %d", m.sender, m.n, lastOf[m.sender])
			}
			lastOf[m.sender] = m.n
		}
		left.Done()
	}
	over := make(chan struct{})
	var hangs sync.WaitGroup
	var abandoned atomic.Int64
	ref := add(t, s, supervisor.Spec{
		Name: "a",
		Hold: senders * each,
		OnLost: func(msg any, why error) {
			if errors.Is(why, supervisor.ErrAbandoned) {
				abandoned.Add(1)
			}
			note(msg.(*tagged), why.Error())
		},
		New: func() supervisor.Actor {
			return supervisor.ReceiveFunc(func(ctx supervisor.Context) {
				m, ok := ctx.Message().(*tagged)
				if !ok {
					return
				}
				switch {
				case m.n%97 == 13:
					supervisor.Crash(fmt.Errorf("%v", m))
				case m.n%1500 == 700:
					hangs.Add(1)
					defer hangs.Done()
					<-over
					return
				case m.n%101 == 50:
					ctx.Stop(ctx.Self())
				}
				note(m, "handled")
			})
		},
	})
	var producers sync.WaitGroup
	for sender := range senders {
		producers.Go(func() {
			for n := range each {
				ref.Send(&tagged{sender, n})
			}
		})
	}
	stop := make(chan struct{})
	restarter := restartAlways(t, s, "a", stop)
	producers.Wait()
	done := make(chan struct{})
	go func() { left.Wait(); close(done) }()
	actortest.Wait(t, "end of all messages", done)
	close(stop)
	restarter.Wait()
	close(over)
	hangs.Wait()
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != senders*each {
		t.Errorf("%d of %d messages accounted for", len(seen), senders*each)
	}
	if abandoned.Load() == 0 {
		t.Error("the test abandoned nobody")
	}
}

// restartAlways restarts a child every millisecond until stop is closed.
func restartAlways(t *testing.T, s *supervisor.Supervisor, name string, stop <-chan struct{}) *sync.WaitGroup {
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				if err := s.Restart(name); err != nil {
					t.Error(err)
				}
				s.Snapshot()
			}
		}
	})
	return &done
}

// TestAnswerToTheIncarnation: a request between actors with protoactor's own functions.
func TestAnswerToTheIncarnation(t *testing.T) {
	s := actortest.Start(t, supervisor.Options{})
	spec, got, lost := collector("a")
	a := add(t, s, spec)
	b := add(t, s, script("b"))
	self := call(t, a, func(ctx supervisor.Context) *supervisor.PID {
		ctx.Request(b.PID(), &do{func(ctx supervisor.Context) { ctx.Respond(&numbered{1}) }})
		return ctx.Self()
	})
	if out := take(t, got, 1); out[0] != 1 {
		t.Errorf("got %v", out)
	}
	a.Send(boom())
	if n := incarnation(t, a); n != 2 {
		t.Fatalf("got incarnation %d", n)
	}
	actortest.Wait(t, "loss of the boom", lost)
	letters := call(t, b, func(ctx supervisor.Context) uint64 {
		ctx.Send(self, &numbered{2})
		return supervisor.DeadLetters(ctx.ActorSystem())
	})
	if letters != 1 || len(got) != 0 {
		t.Errorf("got %d dead letters, %d messages", letters, len(got))
	}
}
