package supervisor

import (
	"strings"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	const slow, limit = time.Second, time.Minute
	for _, tt := range []struct {
		name        string
		running     time.Duration
		slow, limit time.Duration
		reported    bool
		want        verdict
	}{
		{"just begun", 0, slow, limit, false, inTime},
		{"the clock went backwards", -time.Hour, slow, limit, false, inTime},
		{"at the limit", slow, slow, limit, false, inTime},
		{"slow", slow + 1, slow, limit, false, tooSlow},
		{"slow and reported", slow + 1, slow, limit, true, inTime},
		{"at the timeout", limit, slow, limit, true, inTime},
		{"hung", limit + 1, slow, limit, true, tooLong},
		{"hung and never reported", limit + 1, slow, limit, false, tooLong},
		{"no timeout", 100 * limit, slow, -1, true, inTime},
		{"no report", slow + 1, -1, limit, false, inTime},
		{"no report, but a timeout", limit + 1, -1, limit, false, tooLong},
		{"nothing", time.Hour, -1, -1, false, inTime},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := judge(tt.running, limits{slow: tt.slow, worker: tt.limit}, tt.reported); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
	component := limits{slow, 5 * time.Second, limit}
	for running, want := range map[time.Duration]verdict{
		5 * time.Second: inTime, 5*time.Second + 1: tooIdle, limit: tooIdle, limit + 1: tooLong,
	} {
		if got := judge(running, component, true); got != want {
			t.Errorf("component, %s: got %d, want %d", running, got, want)
		}
	}
}

// TestNobodyIsReplaced: if workers have no time limit, a component has none either.
func TestNobodyIsReplaced(t *testing.T) {
	if got := judge(time.Hour, limits{-1, 5 * time.Second, -1}, true); got != inTime {
		t.Errorf("got %d", got)
	}
	if got := watchEvery(Options{SlowAfter: -1, ComponentTimeout: 5 * time.Second, WorkerTimeout: -1}); got != 0 {
		t.Errorf("looks every %s", got)
	}
}

// TestProgress: a late look counts for no more than two.
func TestProgress(t *testing.T) {
	const every = 250 * time.Millisecond
	var p progress
	var v sight
	now := int64(time.Hour)
	look := func(after time.Duration) { now += int64(after); p.look(now, every) }
	look(0)
	began := now + int64(every/5)
	for i, tt := range []struct{ after, want time.Duration }{
		{every, every * 4 / 5},
		{every, every * 9 / 5},
		{time.Hour, every * 19 / 5},
		{every, every * 24 / 5},
	} {
		if look(tt.after); v.running(began, &p, every) != tt.want {
			t.Errorf("look %d: got %s, want %s", i, v.running(began, &p, every), tt.want)
		}
	}
	began = now + 1 // begun just before the process is stopped
	look(time.Hour)
	if got := v.running(began, &p, every); got != 2*every {
		t.Errorf("begun before the stop: got %s", got)
	}
}

func TestWaits(t *testing.T) {
	for head, want := range map[string]bool{
		"": false, "goroutine 1 [running]:": false, "goroutine 1 [runnable, 5 minutes]:": false,
		"goroutine 1 [syscall]:": false, "goroutine 1 [chan receive, 2 minutes]:": true,
		"goroutine 1 [select (no cases)]:": true, "goroutine 1 [sync.Mutex.Lock]:": true,
		"goroutine 1 [semacquire]:": true, "goroutine 1 [IO wait]:": true, "goroutine 1 [sleep]:": true,
		"goroutine 1 [GC assist wait]:": false,
	} {
		if got := waits(head + "\nmain.main()"); got != want {
			t.Errorf("%s: got %v", head, got)
		}
	}
}

func TestWatchEvery(t *testing.T) {
	for _, tt := range []struct {
		slow, limit, want time.Duration
	}{
		{time.Second, time.Minute, 250 * time.Millisecond},
		{-1, time.Minute, 15 * time.Second},
		{time.Minute, time.Second, 250 * time.Millisecond},
		{-1, -1, 0},
		{1, -1, time.Millisecond},
	} {
		if got := watchEvery(Options{SlowAfter: tt.slow, WorkerTimeout: tt.limit}); got != tt.want {
			t.Errorf("%s, %s: got %s, want %s", tt.slow, tt.limit, got, tt.want)
		}
	}
}

// TestStackOfExactlyOne: among many goroutines in the same function, the right trace is found for each actor.
func TestStackOfExactlyOne(t *testing.T) {
	s := Start(benchSystem(), Options{})
	defer s.Stop(time.Minute)
	over := make(chan struct{})
	defer close(over)
	var refs []*Ref
	for _, name := range []string{"a", "b", "c"} {
		reached := make(chan struct{})
		ref, err := s.Add(Spec{Name: name, New: func() Actor {
			return ReceiveFunc(func(ctx Context) {
				if _, ok := ctx.Message().(*ping); ok {
					close(reached)
					<-over
				}
			})
		}})
		if err != nil {
			t.Fatal(err)
		}
		ref.Send(&ping{})
		<-reached
		refs = append(refs, ref)
	}
	all := dump()
	seen := make(map[string]bool)
	for _, ref := range refs {
		stack := stackOfMailbox(all, ref.inbox.cur.Load())
		head, _, _ := strings.Cut(stack, " [")
		if !strings.HasPrefix(head, "goroutine ") || !strings.Contains(stack, "TestStackOfExactlyOne") || seen[head] {
			t.Errorf("%s: got %s", ref.Name(), stack)
		}
		seen[head] = true
	}
	if got := stackOfMailbox(all, new(mailbox)); got != "" {
		t.Errorf("of nobody: %s", got)
	}
}
