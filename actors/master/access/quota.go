package access

import (
	"brine/modules/fleet/quota"
)

// What a minion may have only so much of in an hour.
const (
	QuotaEvents      = iota
	quotaEventBytes  // of events, packed
	QuotaJobs        // returns of jobs that the master did not give to the minion
	QuotaMine        // changes of the mine
	QuotaGrains      // grains to be stored
	QuotaReturnBytes // of returns
	QuotaPeer        // publications and runners
)

// syndicShare is how many times as much as a minion a syndic may have, which speaks for many.
const syndicShare = 10

// Hourly is how much of each a minion may have in an hour (minion_quota_*). 0: as much as it likes.
type Hourly struct {
	Events, Jobs, Mine, Grains, Peer int
	EventBytes, ReturnBytes          int64
}

// book is in the order of the constants.
func (h Hourly) book() *quota.Book {
	return quota.NewBook(int64(h.Events), h.EventBytes, int64(h.Jobs), int64(h.Mine), int64(h.Grains), h.ReturnBytes,
		int64(h.Peer))
}
