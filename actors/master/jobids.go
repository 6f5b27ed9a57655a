package master

import (
	"brine/modules/fleet/jobids"
	"brine/wire/payload"
)

// claimJob tells whether somebody may publish under the job id that he brings along: a new one, which is his from then on, or
// that of a job of his, as the parts of a batch do. With rules nobody gets into the job of somebody else, and into one of the
// master, of which nothing may be stored (runs, what it asks minions itself).
func (c *core) claimJob(jid string, who string) bool {
	if !validJID(jid) || who != jobids.Master && !payload.IsJID(jid) {
		return false
	}
	if who == jobids.Master {
		c.jids.Reserve(jid, who)
		return true
	}
	if whose, known := c.jids.OwnerOf(jid); known {
		return whose == who
	}
	if !c.storedFor(jid, who) {
		return false
	}
	whose, _ := c.jids.Reserve(jid, who)
	return whose == who
}

// storedFor tells whether nothing is known of a job, or that it is one of this user's.
func (c *core) storedFor(jid, user string) bool {
	load, err := settledJobs{c}.Load(jid)
	if err != nil {
		return false
	}
	if load == nil {
		return !c.book.Knows(jid)
	}
	return load.Str("user") == user
}
