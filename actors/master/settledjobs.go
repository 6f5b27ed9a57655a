package master

import (
	"context"
	"time"

	"brine/wire/payload"
)

// settledJobs is the job store as the master's own runners read it: with what the bus has told of.
type settledJobs struct{ *jobs }

func (s settledJobs) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), settlePatience)
	defer cancel()
	_ = s.await(ctx) // a store that cannot write is read all the same
}

// settlePatience bounds how long a reader waits for the commit under way.
const settlePatience = 5 * time.Second

// Load returns the publish load of a job.
func (s settledJobs) Load(jid string) (*payload.Map, error) {
	s.settle()
	return s.store.Load(jid)
}

// Returns maps each id that answered to what it returned.
func (s settledJobs) Returns(jid string) (*payload.Map, error) {
	s.settle()
	return s.store.Returns(jid)
}

// Loads maps every known jid to its publish load.
func (s settledJobs) Loads() (*payload.Map, error) {
	s.settle()
	return s.store.Loads()
}

// EndTime is when the last return of a job came, "" when that is not known.
func (s settledJobs) EndTime(jid string) string {
	return s.endTime(jid)
}
