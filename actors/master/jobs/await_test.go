package jobs

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/fleet/jobstore"
	"brine/supervisor"
	"brine/wire/payload"
)

// gatedStore commits when it is let.
type gatedStore struct{ entered, release chan struct{} }

func (g *gatedStore) Commit([]jobstore.Load, []jobstore.Return) (jobstore.Result, error) {
	g.entered <- struct{}{}
	<-g.release
	return jobstore.Result{}, nil
}

func (g *gatedStore) Clean(time.Time) (int, error) { return 0, nil }

func (g *gatedStore) Compact(context.Context) (int64, int64, error) { return 0, 0, nil }

// TestAwaitJobs: who waits hears nothing before all that came earlier is stored, and is not kept where nothing did.
func TestAwaitJobs(t *testing.T) {
	store := &gatedStore{make(chan struct{}, 3), make(chan struct{})}
	s := actortest.Start(t, supervisor.Options{})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "JobStore", New: func() supervisor.Actor {
		return &jobStore{opt: WriterOptions{store: store, Log: slog.New(slog.DiscardHandler)}}
	}})
	wait := func() chan struct{} {
		done := make(chan struct{}, 1)
		ref.Send(&AwaitJobs{Done: func() { done <- struct{}{} }})
		return done
	}
	actortest.Wait(t, "idle store", wait())
	stored := make(chan error, 3)
	send := func(id string) {
		ref.Send(&StoreReturn{JID: "20260102030405060708", ID: id, Load: payload.M("return", true),
			Stored: func(err error) {
				stored <- err
			}})
	}
	send("m1")
	actortest.Wait(t, "first group", store.entered)
	alone := wait()
	store.release <- struct{}{}
	actortest.Wait(t, "group of nothing but a wait", alone)
	send("m1")
	actortest.Wait(t, "second group", store.entered)
	send("m2")
	done := wait()
	store.release <- struct{}{}
	actortest.Wait(t, "third group", store.entered)
	select {
	case <-done:
		t.Error("answered before the commit")
	default:
	}
	store.release <- struct{}{}
	actortest.Wait(t, "stored", done)
	for range 3 {
		if err := actortest.Wait(t, "answer", stored); err != nil {
			t.Error(err)
		}
	}
}
