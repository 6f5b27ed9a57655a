package daemon

import (
	"context"
	"errors"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/supervisor"
)

// TestChildrenKnowEachOther has the first child of a table look for the last one, which is in a subtree.
func TestChildrenKnowEachOther(t *testing.T) {
	top := actortest.Start(t, supervisor.Options{Name: "minion"})
	last, saw := supervisor.NewRef(), make(chan string, 1)
	idle := actortest.NewProbe().New
	tree := NewTree(supervisor.Options{}, Child{Spec: supervisor.Spec{Name: "Last", Ref: last, New: idle}})
	err := Start{}.Add(top, []Child{
		{Spec: supervisor.Spec{Name: "First", New: func() supervisor.Actor {
			saw <- last.Path()
			return idle()
		}}},
		{}, // the configuration does without it
		tree.Row("Tree"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := actortest.Wait(t, "first child", saw); got != "minion/Tree/Last" {
		t.Errorf("the first child sees %q", got)
	}
	if _, ok := tree.Supervisor().Lookup("Last"); !ok {
		t.Error("the subtree has no child")
	}
}

// TestChildrenInTurn: each child begins when the one before is ready.
func TestChildrenInTurn(t *testing.T) {
	top := actortest.Start(t, supervisor.Options{Name: "master"})
	first, idle := supervisor.NewRef(), actortest.NewProbe().New
	ready := make(chan error, 1)
	over, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := Start{Ready: over}.Add(top, []Child{
		{Spec: supervisor.Spec{Name: "First", Ref: first, New: idle}},
		{Spec: supervisor.Spec{Name: "Second", New: func() supervisor.Actor {
			done, cancel := context.WithCancel(t.Context())
			cancel()
			ready <- first.Ready(done)
			return idle()
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := actortest.Wait(t, "second child", ready); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the first is not ready: %v", err)
	}
}

// TestChildrenAround: what a test puts before an actor gets its messages.
func TestChildrenAround(t *testing.T) {
	top := actortest.Start(t, supervisor.Options{Name: "minion"})
	names := make(chan string, 1)
	err := Start{Around: func(name string, inner supervisor.Actor) supervisor.Actor {
		names <- name
		return inner
	}}.Add(top, []Child{{Spec: supervisor.Spec{Name: "One", New: actortest.NewProbe().New}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := actortest.Wait(t, "actor", names); got != "One" {
		t.Errorf("got %q", got)
	}
}
