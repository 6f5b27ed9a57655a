package jobids

import (
	"testing"
	"time"

	"brine/wire/payload"
)

// TestForgotten: users with rules push no job id of the master out of what is remembered, and the clock gives out none
// that is somebody's.
func TestForgotten(t *testing.T) {
	ids, now := New(false), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first := ids.Next(now)
	const limited = "limited"
	oldest := ids.NextOf(now, limited)
	for range MaxLatest {
		ids.NextOf(now, limited)
	}
	if o, known := ids.OwnerOf(first); !known || o != Master {
		t.Errorf("the master's: %q, %v", o, known)
	}
	if _, known := ids.OwnerOf(oldest); known || len(ids.owners) != MaxLatest+1 {
		t.Errorf("%d are remembered, the oldest among them: %v", len(ids.owners), known)
	}
	later := now.Add(time.Hour)
	ids.Reserve(payload.NewJID(later), limited)
	if got := ids.Next(later); got == payload.NewJID(later) {
		t.Errorf("%s was given out, which is somebody's", got)
	}
}

// TestGuests: minions and users with rules make the master number what they start, and push out none of its own ids.
func TestGuests(t *testing.T) {
	ids, now := New(false), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first, guest := ids.Next(now), ids.NextForGuest(now)
	for range MaxLatest {
		ids.NextForGuest(now)
	}
	if o, known := ids.OwnerOf(first); !known || o != Master {
		t.Errorf("the master's: %q, %v", o, known)
	}
	if _, known := ids.OwnerOf(guest); known || len(ids.owners) != MaxLatest+1 {
		t.Errorf("%d are remembered, the oldest of guests among them: %v", len(ids.owners), known)
	}
	if o, known := ids.OwnerOf(ids.NextForGuest(now)); !known || o != Master {
		t.Errorf("a guest's newest: %q, %v; nobody else may bring it along", o, known)
	}
}
