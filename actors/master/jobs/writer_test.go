package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/fleet/jobstore"
	"brine/supervisor"
	"brine/wire/payload"
)

// TestUnwritableCache: returns that cannot be stored are not acknowledged, which is said once, and then they can be
// stored again.
func TestUnwritableCache(t *testing.T) {
	store := &brokenStore{}
	log := actortest.NewLog()
	s := actortest.Start(t, supervisor.Options{})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "JobStore", New: func() supervisor.Actor {
		return &jobStore{opt: WriterOptions{store: store, Log: log.Logger()}}
	}})
	give := func() error {
		done := make(chan error, 1)
		ref.Send(&StoreReturn{JID: theJID, ID: "m1", Load: aReturn("m1", theJID), Stored: func(err error) {
			done <- err
		}})
		return actortest.Wait(t, "the store's answer", done)
	}
	store.fail = errors.New("no space left on device")
	for range 5 {
		if err := give(); !errors.Is(err, store.fail) {
			t.Errorf("got %v", err)
		}
	}
	store.fail = nil
	if err := give(); err != nil {
		t.Error(err)
	}
	log.Await(t, "jobs can be stored again")
	said := 0
	for _, line := range log.Lines() {
		if strings.Contains(line, "jobs cannot be stored") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("said %d times: %q", said, log.Lines())
	}
	store.panics = true
	if err := give(); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("after a panic: %v", err)
	}
}

// brokenStore fails as it is told. Its one caller at a time is the writer of a JobStore.
type brokenStore struct {
	fail    error
	panics  bool
	entered chan struct{}
	release chan struct{}
	groups  []int
}

func (b *brokenStore) Commit(_ []jobstore.Load, rets []jobstore.Return) (jobstore.Result, error) {
	if b.entered != nil {
		b.entered <- struct{}{}
		<-b.release
	}
	if b.panics {
		panic("broken")
	}
	b.groups = append(b.groups, len(rets))
	return jobstore.Result{}, b.fail
}

func (b *brokenStore) Clean(time.Time) (int, error) { return 0, nil }

func (b *brokenStore) Compact(context.Context) (int64, int64, error) { return 0, 0, nil }

// TestJobStoreGroups: while one group is on its way the next gathers; what waits at the end is written.
func TestJobStoreGroups(t *testing.T) {
	store := &brokenStore{entered: make(chan struct{}, 10), release: make(chan struct{})}
	s := actortest.Start(t, supervisor.Options{})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "JobStore", New: func() supervisor.Actor {
		return &jobStore{opt: WriterOptions{store: store, Log: actortest.Discard()}}
	}})
	done := make(chan error, 20)
	send := func(n int) {
		for range n {
			ref.Send(&StoreReturn{JID: theJID, ID: "m1", Load: aReturn("m1", theJID), Stored: func(err error) {
				done <- err
			}})
		}
	}
	send(1)
	actortest.Wait(t, "first group", store.entered)
	send(5)
	store.release <- struct{}{}
	actortest.Wait(t, "second group", store.entered)
	send(3)
	handled := func() error {
		if n := ref.Depth(); n > 0 {
			return fmt.Errorf("%d wait", n)
		}
		return nil
	}
	actortest.Eventually(t, "messages handled", handled)
	stopped := make(chan supervisor.Report, 1)
	go func() { stopped <- s.Stop(time.Minute) }()
	store.release <- struct{}{}
	actortest.Wait(t, "last group", store.entered)
	store.release <- struct{}{}
	if r := actortest.Wait(t, "stop", stopped); len(r.Abandoned) > 0 {
		t.Errorf("abandoned %v", r.Abandoned)
	}
	for range 9 {
		if err := actortest.Wait(t, "answer", done); err != nil {
			t.Error(err)
		}
	}
	if fmt.Sprint(store.groups) != "[1 5 3]" {
		t.Errorf("groups of %v", store.groups)
	}
}

// TestJobStoreDies: what had gathered is written by the dying actor, and its successor goes on.
func TestJobStoreDies(t *testing.T) {
	store := &brokenStore{entered: make(chan struct{}, 10), release: make(chan struct{})}
	s := actortest.Start(t, supervisor.Options{})
	crasher := actortest.NewCrasher(func() supervisor.Actor {
		return &jobStore{opt: WriterOptions{store: store, Log: actortest.Discard()}}
	})
	ref := actortest.Add(t, s, supervisor.Spec{Name: "JobStore", New: crasher.New})
	done := make(chan error, 20)
	send := func(n int) {
		for range n {
			ref.Send(&StoreReturn{JID: theJID, ID: "m1", Load: aReturn("m1", theJID), Stored: func(err error) {
				done <- err
			}})
		}
	}
	send(1)
	actortest.Wait(t, "first group", store.entered)
	crasher.Panic(&SaveLoad{})
	send(2)
	ref.Send(&SaveLoad{JID: theJID})
	send(1)
	store.release <- struct{}{}
	for range 2 {
		actortest.Wait(t, "a later group", store.entered)
		store.release <- struct{}{}
	}
	for range 4 {
		if err := actortest.Wait(t, "answer", done); err != nil {
			t.Error(err)
		}
	}
	if fmt.Sprint(store.groups) != "[1 2 1]" {
		t.Errorf("groups of %v", store.groups)
	}
}

// theJID is a job of tests.
const theJID = "20260101000000000001"

// aReturn is the return of a minion.
func aReturn(id, jid string) *payload.Map {
	return payload.M("cmd", "_return", "id", id, "jid", jid, "fun", "test.ping", "fun_args", []any{}, "return", true,
		"retcode", 0, "success", true)
}
