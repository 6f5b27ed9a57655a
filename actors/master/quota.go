package master

import (
	"brine/config"
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

func newQuotas(cfg *config.Master) *quota.Book {
	return quota.NewBook(int64(cfg.MinionQuotaEvents), cfg.MinionQuotaEventBytes, int64(cfg.MinionQuotaJobs), int64(cfg.MinionQuotaMine), int64(cfg.MinionQuotaGrains),
		cfg.MinionQuotaReturnBytes, int64(cfg.MinionQuotaPeer))
}
