package master

import (
	"brine/modules/fleet/quota"
)

// What a minion may have only so much of in an hour.
const (
	quotaEvents      = iota
	quotaEventBytes  // of events, packed
	quotaJobs        // returns of jobs that the master did not give to the minion
	quotaMine        // changes of the mine
	quotaGrains      // grains to be stored
	quotaReturnBytes // of returns
	quotaPeer        // publications and runners
)

// syndicShare is how many times as much as a minion a syndic may have, which speaks for many.
const syndicShare = 10

// hourly is how much of each a minion may have in an hour (minion_quota_*). 0: as much as it likes.
type hourly struct {
	events, jobs, mine, grains, peer int
	eventBytes, returnBytes          int64
}

// book is in the order of the constants.
func (h hourly) book() *quota.Book {
	return quota.NewBook(int64(h.events), h.eventBytes, int64(h.jobs), int64(h.mine), int64(h.grains), h.returnBytes,
		int64(h.peer))
}
