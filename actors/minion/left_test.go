package minion

import (
	"log/slog"
	"time"

	"brine/actors/minion/journal"
	"brine/modules/loader"
	"brine/wire/payload"
)

// Texts of returns, and times of jobs.
const (
	sayLost     = "The minion's process ended while the job was running"
	sayStopped  = "The minion was stopped while the job was running"
	sayStopping = "The minion was about to stop when the job came, and did not run it"

	shownAfter = 100 * time.Millisecond // of a job that goes on running
	toldAfter  = 400 * time.Millisecond // after that
	lookEvery  = 200 * time.Millisecond // at the job queue
)

// Texts of the log of the Journal.
const (
	sayNoJournal    = "jobs and returns cannot be kept on disk"
	sayJournalAgain = "jobs and returns are kept on disk again"
)

// jid makes the n-th job id of a test.
// openLeft opens the journal of a process that has ended.
func openLeft(path string) (*journal.File, error) {
	return journal.Open(path, time.Nanosecond, slog.New(slog.DiscardHandler))
}

// load is a job for m1.
// begunBy is a job as a process that has ended has written it down.
func begunBy(load *payload.Map) *payload.Map {
	out := payload.M("pid", int64(1<<30)) // nobody's
	out.Update(loader.WithResourceFields(load))
	return out
}
