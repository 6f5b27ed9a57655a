package door

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestKnocks: failures count for a user at an address, and for an address; nobody else is shut out, and a minute later
// nobody at all.
func TestKnocks(t *testing.T) {
	now := time.Unix(1e9, 0)
	k := Knocks{now: func() time.Time { return now }}
	knock := func(from, user string, failed bool) error {
		leave, err := k.Enter(t.Context(), 3, from, user)
		if err == nil {
			leave(failed)
		}
		return err
	}
	for range 100 {
		if err := knock("10.0.0.1", "ann", false); err != nil {
			t.Fatal(err)
		}
	}
	if len(k.known) != 0 {
		t.Errorf("%d are remembered for nothing", len(k.known))
	}
	for range 3 {
		if err := knock("10.0.0.1", "ann", true); err != nil {
			t.Fatal(err)
		}
	}
	if err := knock("10.0.0.1", "ann", false); !errors.Is(err, ErrKnocks) {
		t.Errorf("a fourth: %v", err)
	}
	if err := errors.Join(knock("10.0.0.1", "ben", false), knock("10.0.0.1", "", false), knock("10.0.0.2", "ann",
		false)); err != nil {
		t.Errorf("others: %v", err)
	}
	tried := 0
	for i := range 100 {
		if knock("2001:db8::"+fmt.Sprint(i), fmt.Sprint("user", i), true) == nil {
			tried++
		}
	}
	if tried != 30 {
		t.Errorf("an address has tried %d", tried)
	}
	now = now.Add(knockWindow)
	if err := errors.Join(knock("10.0.0.1", "ann", false), knock("2001:db8::1", "user", false)); err != nil {
		t.Errorf("a minute later: %v", err)
	}
	if len(k.known) != 0 {
		t.Errorf("%d are remembered", len(k.known))
	}
	for range 100 {
		if leave, err := k.Enter(t.Context(), 0, "x", "y"); err != nil {
			t.Fatal(err)
		} else {
			leave(true)
		}
	}
}

// TestKnocksAtOnce: no more are tried at a time than may fail; the next wait, and hear of it when that many have
// failed.
func TestKnocksAtOnce(t *testing.T) {
	var k Knocks
	var inside []func(bool)
	for range 3 {
		leave, err := k.Enter(t.Context(), 3, "a", "ann")
		if err != nil {
			t.Fatal(err)
		}
		inside = append(inside, leave)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Enter(gone, 3, "a", "ann"); !errors.Is(err, context.Canceled) {
		t.Errorf("who does not wait: %v", err)
	}
	waiting := make(chan error)
	for range knocksWaiting {
		go func() {
			leave, err := k.Enter(t.Context(), 3, "a", "ann")
			if err == nil {
				leave(true)
			}
			waiting <- err
		}()
	}
	count := func() int {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.of(visitor{from: "a", all: true}).waiting
	}
	for limit := time.Now().Add(time.Minute); count() < knocksWaiting; <-time.After(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d wait", count())
		}
	}
	if _, err := k.Enter(t.Context(), 3, "a", "ann"); !errors.Is(err, ErrKnocks) {
		t.Errorf("one more: %v", err)
	}
	inside[0](false) // one place is free; who gets it fails
	if err := <-waiting; err != nil {
		t.Error(err)
	}
	inside[1](true)
	inside[2](true)
	for range knocksWaiting - 1 {
		if err := <-waiting; !errors.Is(err, ErrKnocks) {
			t.Errorf("who waited: %v", err)
		}
	}
	if n := k.of(visitor{from: "a", user: "ann"}); n.failed != 3 || n.inside != 0 {
		t.Errorf("%+v", n)
	}
}

// TestManyKnockers: names without end take bounded room.
func TestManyKnockers(t *testing.T) {
	var k Knocks
	for i := range 2 * knocksVisitors {
		if leave, err := k.Enter(t.Context(), 1, fmt.Sprint(i), "ann"); err == nil {
			leave(true)
		}
	}
	if len(k.known) > knocksVisitors+2 {
		t.Errorf("%d are kept", len(k.known))
	}
}

// TestKnocksOfGuests: who has come in at an address is not shut out by what others do there, and has no more failures
// of his own for it.
func TestKnocksOfGuests(t *testing.T) {
	now := time.Unix(1e9, 0)
	k := Knocks{now: func() time.Time { return now }}
	knock := func(user string, failed bool) error {
		leave, err := k.Enter(t.Context(), 3, "10.0.0.1", user)
		if err == nil {
			leave(failed)
		}
		return err
	}
	k.Came("10.0.0.1", "ann")
	k.Came("10.0.0.2", "ben")
	for i := range 100 {
		_ = knock(fmt.Sprint("guess", i), true) // the later ones are refused
	}
	if err := knock("ben", false); !errors.Is(err, ErrKnocks) {
		t.Errorf("who has come in elsewhere: %v", err)
	}
	for range 3 {
		if err := knock("ann", true); err != nil {
			t.Fatalf("who has come in: %v", err)
		}
	}
	if err := knock("ann", false); !errors.Is(err, ErrKnocks) {
		t.Errorf("who has come in, a fourth time: %v", err)
	}
	for i := range 3 * knocksGuests {
		k.Came("10.0.0.1", fmt.Sprint(i))
	}
	if len(k.guests) > knocksGuests {
		t.Errorf("%d are remembered", len(k.guests))
	}
	for i := range 100 {
		_ = knock(fmt.Sprint(3*knocksGuests-1-i), true)
	}
	if all := k.known[visitor{from: "10.0.0.1", all: true, guest: true}]; all == nil || all.failed > 30 {
		t.Errorf("failures of guests: %+v", all)
	}
}
