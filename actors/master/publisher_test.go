package master

import (
	"testing"
	"time"

	"brine/actors/master/publish"
	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// TestPublishRefused: a running master notes what its Publisher could not seal.
func TestPublishRefused(t *testing.T) {
	r := newRig(t)
	book := r.m.core.book
	book.Begin(ledger.Job{JID: someJID})
	r.m.core.publications.Publisher.Send(&publish.PublishJob{Job: *payload.NewJob(payload.M("jid", someJID, "arg",
		make(chan int)))})
	until(t, "note of a refusal", func() bool { return book.Snapshot(someJID).Job.Failed != "" })
}

// until polls what no message tells.
func until(t *testing.T, what string, seen func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !seen(); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not seen: " + what)
		}
	}
}
