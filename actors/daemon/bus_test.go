package daemon

import (
	"context"
	"testing"

	"brine/actors/actortest"
	"brine/supervisor"
)

// TestBusHandle: a listener waits until its subscription stands, and an event leaves its place when it is lost.
func TestBusHandle(t *testing.T) {
	room := NewBound(BoundOptions{What: "events", Most: 10, Log: actortest.NewLog().Logger()})
	b := NewBus(room)
	if b.Put([]byte("too early")) {
		t.Error("a bus that is not there took an event")
	}
	if n, _ := room.Waiting(); n != 0 {
		t.Errorf("%d wait for it", n)
	}
	top := actortest.Start(t, supervisor.Options{Name: "daemon"})
	got := make(chan string, 4)
	if err := (Start{}).Add(top,
		[]Child{{Spec: supervisor.Spec{Name: "Bus", Ref: b.Ref(), New: func() supervisor.Actor {
			return actorFunc(func(ctx supervisor.Context) {
				switch m := ctx.Message().(type) {
				case *Subscribe:
					got <- "subscribe " + m.Name
					close(m.Done)
				case *Unsubscribe:
					got <- "unsubscribe " + m.Name
				case *FireEvent:
					m.Leave()
					got <- string(m.Content())
				}
			})
		}}}}); err != nil {
		t.Fatal(err)
	}
	stop, err := b.Listen(t.Context(), "engine", func(string, []byte) {})
	if err != nil {
		t.Fatal(err)
	}
	b.Put([]byte("event"))
	stop()
	for _, want := range []string{"subscribe engine-1", "event", "unsubscribe engine-1"} {
		if g := actortest.Wait(t, want, got); g != want {
			t.Errorf("got %q, want %q", g, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	hung := NewBus(nil)
	if _, err := hung.Listen(ended, "engine", nil); err == nil {
		t.Error("a subscription stands on no bus")
	}
}

type actorFunc func(ctx supervisor.Context)

func (f actorFunc) Receive(ctx supervisor.Context) { f(ctx) }
