package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/netapi/feed"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"
)

func TestAllReadersGetAllEventsInOrder(t *testing.T) {
	bus := newFakeBus()
	h, _, _ := startHub(t, bus, feed.Limits{})
	var streams []*feed.Stream
	for i := range 20 {
		streams = append(streams, open(t, h, fmt.Sprint("10.0.0.", i)))
	}
	var want []string
	for i := range 1000 {
		tag := fmt.Sprint("salt/some/", i)
		want = append(want, tag)
		bus.fire(t, tag, payload.M("n", i))
	}
	for i, s := range streams {
		if got := take(t, s, len(want)); !slices.Equal(got, want) {
			t.Errorf("reader %d: got %d events, %v ... in another order", i, len(got), got[:3])
		}
	}
	if bus.joins != 1 {
		t.Errorf("the bus was joined %d times for 20 readers", bus.joins)
	}
}

// TestNudgesAreNotShown: readers do not see the event with which a brine master nudges a new connection.
func TestNudgesAreNotShown(t *testing.T) {
	bus := newFakeBus()
	h, _, _ := startHub(t, bus, feed.Limits{})
	s := open(t, h, "a")
	bus.fire(t, event.TagNudge, payload.M())
	bus.fire(t, "t/1", payload.M())
	if got := take(t, s, 1); got[0] != "t/1" {
		t.Errorf("got %v", got)
	}
}

func TestASlowReaderFallsOutAlone(t *testing.T) {
	bus := newFakeBus()
	h, _, _ := startHub(t, bus, feed.Limits{Events: 100})
	slow, quick := open(t, h, "slow"), open(t, h, "quick")
	for i := range 500 {
		bus.fire(t, fmt.Sprint("t/", i), payload.M())
		take(t, quick, 1)
	}
	if _, err := slow.Next(testContext(t)); !errors.Is(err, feed.ErrSlow) {
		t.Errorf("the slow reader: got %v, want %v", err, feed.ErrSlow)
	}
	if _, kept := h.ring.Count(); kept > 100 {
		t.Errorf("%d events are kept", kept)
	}
}

func TestAMasterThatIsNotThere(t *testing.T) {
	bus := newFakeBus()
	bus.setAway(true)
	h, _, _ := startHub(t, bus, feed.Limits{})
	if _, err := h.Open(testContext(t), "a"); !errors.Is(err, feed.ErrNoBus) || !errors.Is(err, errAway) {
		t.Errorf("got %v, want %v", err, feed.ErrNoBus)
	}
	if readers, _ := h.ring.Count(); readers != 0 {
		t.Errorf("%d readers are left", readers)
	}
	bus.setAway(false)
	actortest.Wait(t, "subscription", bus.joined)
	s := open(t, h, "a")
	bus.fire(t, "t/1", payload.M())
	take(t, s, 1)
}

func TestTheBusIsJoinedAgain(t *testing.T) {
	bus := newFakeBus()
	h, _, log := startHub(t, bus, feed.Limits{})
	s := open(t, h, "a")
	actortest.Wait(t, "first subscription", bus.joined)
	if !s.Up() {
		t.Error("the bus is not up")
	}
	bus.setAway(true)
	log.Await(t, "event bus lost, joining it again")
	for s.Up() {
		if _, err := s.Next(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	bus.setAway(false)
	actortest.Wait(t, "second subscription", bus.joined)
	bus.fire(t, "t/after", payload.M())
	if got := take(t, s, 1); got[0] != "t/after" {
		t.Errorf("got %v", got)
	}
	if !s.Up() {
		t.Error("the bus is not up again")
	}
}

func TestStreamsOutliveTheActor(t *testing.T) {
	bus := newFakeBus()
	h, sup, _ := startHub(t, bus, feed.Limits{})
	s := open(t, h, "a")
	actortest.Wait(t, "first subscription", bus.joined)
	if err := sup.Restart(Name); err != nil {
		t.Fatal(err)
	}
	actortest.Wait(t, "second subscription", bus.joined)
	bus.fire(t, "t/after", payload.M())
	if got := take(t, s, 1); got[0] != "t/after" {
		t.Errorf("got %v", got)
	}
}

func TestStopEndsStreams(t *testing.T) {
	bus := newFakeBus()
	h := New(Options{Subscribe: bus.subscribe})
	if _, err := h.Open(testContext(t), "a"); !errors.Is(err, feed.ErrStopped) {
		t.Errorf("before the start: %v", err)
	}
	sup := supervisor.Start(supervisor.NewSystem(h.opt.Log), supervisor.Options{Name: "salt-api", Logger: h.opt.Log})
	actortest.Add(t, sup, h.Spec())
	s := open(t, h, "a")
	done := make(chan error)
	go func() {
		for {
			if _, err := s.Next(context.Background()); err != nil {
				done <- err
				return
			}
		}
	}()
	sup.Stop(patience)
	if err := actortest.Wait(t, "end", done); !errors.Is(err, feed.ErrStopped) {
		t.Errorf("got %v", err)
	}
	if _, err := h.Open(testContext(t), "a"); !errors.Is(err, feed.ErrStopped) {
		t.Errorf("after the end: %v", err)
	}
}

func TestALostMessageMakesRoom(t *testing.T) {
	room := make(chan struct{}, 1)
	room <- struct{}{}
	(&eventCame{nil, room}).Lost(nil)
	if len(room) != 0 {
		t.Error("it did not")
	}
}

func TestAnIdleBusIsLeft(t *testing.T) {
	bus := newFakeBus()
	h, _, _ := startHub(t, bus, feed.Limits{})
	s := open(t, h, "a")
	actortest.Wait(t, "first subscription", bus.joined)
	s.Close()
	ref := h.ref.Load()
	for range idleSweeps {
		ref.Send(&sweep{})
	}
	for s.Up() {
		<-time.After(time.Millisecond)
	}
	s = open(t, h, "a")
	actortest.Wait(t, "second subscription", bus.joined)
	bus.fire(t, "t/after", payload.M())
	take(t, s, 1)
}

func TestTheGapGrowsWithTheReaders(t *testing.T) {
	for readers, want := range map[int]time.Duration{0: 0, 1: 0, 39: 0, 40: 2 * time.Millisecond,
		1000: 50 * time.Millisecond, 2000: gapMost, 9999: gapMost} {
		if got := gap(readers); got != want {
			t.Errorf("%d readers: %v, want %v", readers, got, want)
		}
	}
}

// TestUnknownMessages: unknown messages are counted and do no harm.
func TestUnknownMessages(t *testing.T) {
	h, _, _ := startHub(t, newFakeBus(), feed.Limits{})
	ref := h.ref.Load()
	ref.Send(&struct{}{})
	ref.Send(&busLost{n: 7})
	ref.Send(&busJoined{n: 7})
	ref.Send(&busAway{n: 7})
	if open(t, h, "a") == nil {
		t.Error("no stream")
	}
}
