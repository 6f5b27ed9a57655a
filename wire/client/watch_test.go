package client

import (
	"context"
	"errors"
	"io"
	"testing"

	"brine/wire/event"
	"brine/wire/payload"
)

// TestWatch: several watchers share a subscription; each gets its events in order, and ends alone.
func TestWatch(t *testing.T) {
	m := newFakeMaster(t, func(*payload.Map) any { return nil })
	c := m.client(m.options())
	first, err := c.Watch(testContext(t), "a/")
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Watch(testContext(t), "b/")
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	if n := len(m.subs); n != 1 {
		t.Errorf("%d subscriptions", n)
	}
	m.mu.Unlock()
	for _, tag := range []string{"b/1", "a/1", "ab", "b/2"} {
		m.fire(tag, payload.NewMap(0))
	}
	for _, want := range []string{"b/1", "b/2"} {
		if body, err := second.Next(testContext(t)); err != nil || event.Tag(body) != want {
			t.Errorf("got %q, %v, want %s", body, err, want)
		}
	}
	for range 2 {
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := second.Next(testContext(t)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after the end: %v", err)
	}
	if body, err := first.Next(testContext(t)); err != nil || event.Tag(body) != "a/1" {
		t.Errorf("the other one: %q, %v", body, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := first.Next(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
}
