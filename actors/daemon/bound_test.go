package daemon

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"brine/actors/actortest"
)

func TestBound(t *testing.T) {
	log := actortest.NewLog()
	b := NewBound(BoundOptions{What: "things", Most: 2, MostBytes: 100, Log: log.Logger()})
	ctx := t.Context()
	var first, second, third Place
	first.Enter(b, 10)
	if !b.Wait(ctx) {
		t.Error("no room for the second")
	}
	second.Enter(b, 10)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if b.Wait(ended) {
		t.Error("room for a third")
	}
	done := make(chan bool, 1)
	go func() { done <- b.Wait(ctx) }()
	log.Await(t, textWaits)
	first.Leave()
	if !actortest.Wait(t, "room where one has left", done) {
		t.Error("no room where one has left")
	}
	first.Leave() // only the first time counts
	second.Leave()
	third.Enter(b, 100)
	if b.Has() {
		t.Error("room for more bytes")
	}
	if n, bytes := b.Waiting(); n != 1 || bytes != 100 || b.Fill() != 1 {
		t.Errorf("%d wait, %d bytes, %v full", n, bytes, b.Fill())
	}
	var none *Bound
	var place Place
	if place.Enter(none, 1); !none.Wait(ended) {
		t.Error("nothing bounds it, and it has no room")
	}
	place.Leave()
}

// TestBoundBell: a sender that waits for room elsewhere is woken by the bell, and misses no ring of many.
func TestBoundBell(t *testing.T) {
	var bell Bell
	var room atomic.Bool
	log := actortest.NewLog()
	b := NewBound(BoundOptions{What: "things", Most: 1, Also: room.Load, Bell: &bell, Log: log.Logger()})
	for range 1000 {
		room.Store(false)
		done := make(chan bool, 1)
		go func() { done <- b.Wait(t.Context()) }()
		room.Store(true)
		bell.Ring()
		if !actortest.Wait(t, "room", done) {
			t.Fatal("no room")
		}
	}
}

// TestBoundMany: many senders take turns, and none is left waiting.
func TestBoundMany(t *testing.T) {
	b := NewBound(BoundOptions{What: "things", Most: 1, Log: actortest.NewLog().Logger()})
	const senders, each = 8, 200
	done := make(chan bool, senders)
	for range senders {
		go func() {
			for range each {
				if !b.Wait(t.Context()) {
					done <- false
					return
				}
				var p Place
				p.Enter(b, 1)
				time.AfterFunc(0, p.Leave)
			}
			done <- true
		}()
	}
	for range senders {
		if !actortest.Wait(t, "end of a sender", done) {
			t.Error("a sender was cut off")
		}
	}
}
