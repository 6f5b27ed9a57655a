package transfers

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/actors/daemon"
	"brine/supervisor"
)

// rig is a FileClient alone.
type rig struct {
	testing.TB
	top *supervisor.Supervisor
	*Transfers
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{TB: t, Transfers: New(), top: actortest.Start(t, supervisor.Options{Name: "minion", Chaos: true,
		RestartDelayMax: time.Millisecond})}
	if err := (daemon.Start{}).Add(r.top, []daemon.Child{r.Child()}); err != nil {
		t.Fatal(err)
	}
	return r
}

// fetches counts transfers, which end when they are let.
type fetches struct {
	began chan context.Context
	let   chan error
	n     atomic.Int64
}

func newFetches() *fetches {
	return &fetches{began: make(chan context.Context, 16), let: make(chan error)}
}

func (f *fetches) fetch(ctx context.Context) error {
	f.n.Add(1)
	f.began <- ctx
	select {
	case err := <-f.let:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wants has somebody want a key, and returns where the outcome will be.
func (r *rig) wants(ctx context.Context, f *fetches, key string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- r.Once(ctx, key, f.fetch) }()
	return done
}

// waiting waits until so many want a key.
func (r *rig) waiting(key string, n int64) {
	r.Helper()
	for {
		reply := make(chan *transfer, 1)
		r.client.Send(&Fetch{Key: key, Fetch: func(ctx context.Context) error { return nil }, Reply: reply})
		there := actortest.Wait(r, "those who want "+key, reply)
		if there == nil {
			continue
		}
		all := there.waiting.Load()
		if there.leave(); all == n+1 { // and this one
			return
		}
		runtime.Gosched()
	}
}

// TestOneTransfer: many who want one file are served by one transfer, and those who want another are not held up.
func TestOneTransfer(t *testing.T) {
	r := newRig(t)
	f, other := newFetches(), newFetches()
	var all []<-chan error
	for range 5 {
		all = append(all, r.wants(t.Context(), f, "a"))
	}
	actortest.Wait(t, "transfer", f.began)
	r.waiting("a", 5)
	late := r.wants(t.Context(), other, "b")
	actortest.Wait(t, "other transfer", other.began)
	other.let <- nil
	if err := actortest.Wait(t, "other file", late); err != nil {
		t.Error(err)
	}
	want := errors.New("no room")
	f.let <- want
	for _, done := range all {
		if err := actortest.Wait(t, "file", done); !errors.Is(err, want) {
			t.Errorf("got %v", err)
		}
	}
	if n := f.n.Load(); n != 1 {
		t.Errorf("%d transfers", n)
	}
}

// TestLeftTransfer: a transfer goes on for who still wants it, and ends with the last who does.
func TestLeftTransfer(t *testing.T) {
	r := newRig(t)
	f := newFetches()
	one, leave := context.WithCancel(t.Context())
	first := r.wants(one, f, "a")
	ctx := actortest.Wait(t, "transfer", f.began)
	two, leave2 := context.WithCancel(t.Context())
	second := r.wants(two, f, "a")
	r.waiting("a", 2)
	leave()
	if err := actortest.Wait(t, "who left", first); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if ctx.Err() != nil {
		t.Error("the transfer ended although somebody waits for it")
	}
	leave2()
	if err := actortest.Wait(t, "who left last", second); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	actortest.Wait(t, "the end of the transfer", ctx.Done())
	again := r.wants(t.Context(), f, "a")
	actortest.Wait(t, "another transfer", f.began)
	f.let <- nil
	if err := actortest.Wait(t, "file", again); err != nil {
		t.Error(err)
	}
}

// TestFileClientDies: who waits for a transfer that dies with the FileClient gets another one.
func TestFileClientDies(t *testing.T) {
	for _, how := range []supervisor.Fault{supervisor.FaultPanic, supervisor.FaultExit} {
		r := newRig(t)
		f := newFetches()
		done := r.wants(t.Context(), f, "a")
		actortest.Wait(t, "transfer", f.began)
		if err := r.top.Inject("FileClient", how); err != nil {
			t.Fatal(err)
		}
		if how == supervisor.FaultPanic { // of its next message
			r.client.Send(&transferEnded{})
		}
		actortest.Wait(t, "transfer of the next", f.began)
		f.let <- nil
		if err := actortest.Wait(t, "file", done); err != nil {
			t.Errorf("%v: got %v", how, err)
		}
	}
}

// TestFetchNobodyWaitsFor: who has left before the FileClient answers is not among those who want the transfer.
func TestFetchNobodyWaitsFor(t *testing.T) {
	for _, left := range []bool{false, true} {
		reply, ended := make(chan *transfer, 1), false
		ask := &Fetch{Reply: reply}
		ask.settled.Store(left)
		f := &transfer{cancel: func() { ended = true }}
		f.waiting.Store(1)
		ask.answer(f)
		if ended != left || len(reply) == 1 == left {
			t.Errorf("left %v: the transfer has ended: %v, answers: %d", left, ended, len(reply))
		}
	}
}
