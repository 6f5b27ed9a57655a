package events

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"brine/actors/actortest"
	"brine/modules/netapi/feed"
	"brine/supervisor"
	"brine/wire/event"
	"brine/wire/payload"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = time.Minute

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// fakeBus is the bus of a master that can go away.
type fakeBus struct {
	turn    chan struct{} // the holder of its element may use the other fields
	away    bool
	sources []*fakeSource
	joins   int
	joined  chan int // gets a number for each subscription
}

func newFakeBus() *fakeBus {
	b := &fakeBus{turn: make(chan struct{}, 1), joined: make(chan int, 1000)}
	b.free()
	return b
}

func (b *fakeBus) free() { b.turn <- struct{}{} }

var errAway = errors.New("no such file")

func (b *fakeBus) subscribe(context.Context) (Source, error) {
	<-b.turn
	defer b.free()
	if b.away {
		return nil, errAway
	}
	b.joins++
	s := &fakeSource{bodies: make(chan []byte, 4096)}
	b.sources = append(b.sources, s)
	b.joined <- b.joins
	return s, nil
}

func (b *fakeBus) fire(t testing.TB, tag string, data *payload.Map) {
	t.Helper()
	body, err := event.Pack(tag, data, 0)
	if err != nil {
		t.Error(err)
		return
	}
	b.put(body)
}

func (b *fakeBus) put(body []byte) {
	<-b.turn
	defer b.free()
	for _, s := range b.sources {
		s.bodies <- body
	}
}

// setAway ends all subscriptions, as a stopping master does, or permits new ones.
func (b *fakeBus) setAway(away bool) {
	<-b.turn
	defer b.free()
	b.away = away
	if away {
		for _, s := range b.sources {
			close(s.bodies)
		}
		b.sources = nil
	}
}

type fakeSource struct{ bodies chan []byte }

func (s *fakeSource) Next(ctx context.Context) ([]byte, error) {
	select {
	case body, ok := <-s.bodies:
		if !ok {
			return nil, io.EOF
		}
		return body, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *fakeSource) Close() error { return nil }

// startHub starts a Hub over a bus.
func startHub(t testing.TB, bus *fakeBus, limits feed.Limits) (*Hub, *supervisor.Supervisor, *actortest.Log) {
	t.Helper()
	log := actortest.NewLog()
	h := New(Options{Subscribe: bus.subscribe, Limits: limits, Log: log.Logger()})
	sup := actortest.Start(t, supervisor.Options{Name: "salt-api"})
	actortest.Add(t, sup, h.Spec())
	return h, sup, log
}

func open(t testing.TB, h *Hub, from string) *feed.Stream {
	t.Helper()
	s, err := h.Open(testContext(t), from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// take reads n events.
func take(t testing.TB, s *feed.Stream, n int) (tags []string) {
	t.Helper()
	ctx := testContext(t)
	for len(tags) < n {
		got, err := s.Next(ctx)
		if err != nil {
			t.Fatalf("after %d events: %v", len(tags), err)
		}
		for _, e := range got {
			tags = append(tags, e.Tag)
		}
	}
	return tags
}
