package jobs

import (
	"testing"

	"brine/actors/actortest"
)

// endingStore knows when jobs have ended.
type endingStore struct{ Store }

func (endingStore) EndTime(jid string) string { return "end of " + jid }

// TestEndTime: the end of a job is that which the store tells, "" of one that knows none.
func TestEndTime(t *testing.T) {
	ends := New(Options{}, endingStore{}, nil, actortest.Discard())
	if got := (Settled{ends}).EndTime("1"); got != "end of 1" {
		t.Errorf("got %q", got)
	}
	none := New(Options{}, &struct{ Store }{}, nil, actortest.Discard())
	if got := (Settled{none}).EndTime("1"); got != "" {
		t.Errorf("of a store that knows none: %q", got)
	}
}
