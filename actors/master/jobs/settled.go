package jobs

import (
	"context"
	"time"

	"brine/wire/payload"
)

// Settled is the job store as the master's own runners read it: with what the bus has told of.
type Settled struct{ *Jobs }

// Settle waits for the commit under way.
func (s Settled) Settle() {
	ctx, cancel := context.WithTimeout(context.Background(), settlePatience)
	defer cancel()
	_ = s.Await(ctx) // a store that cannot write is read all the same
}

// settlePatience bounds how long a reader waits for the commit under way.
const settlePatience = 5 * time.Second

// Load returns the publish load of a job.
func (s Settled) Load(jid string) (*payload.Map, error) {
	s.Settle()
	return s.Store.Load(jid)
}

// Returns maps each id that answered to what it returned.
func (s Settled) Returns(jid string) (*payload.Map, error) {
	s.Settle()
	return s.Store.Returns(jid)
}

// Loads maps every known jid to its publish load.
func (s Settled) Loads() (*payload.Map, error) {
	s.Settle()
	return s.Store.Loads()
}

// EndTime is when the last return of a job came, "" when that is not known.
func (s Settled) EndTime(jid string) string {
	return s.Jobs.EndTime(jid)
}
