package jobs

import (
	"time"

	"brine/modules/eauth"
	"brine/modules/fleet/jobids"
	"brine/wire/payload"
)

// Claim tells whether somebody may publish under the job id that he brings along: a new one, which is his from then on,
// or that of a job of his, as the parts of a batch do. With rules nobody gets into the job of somebody else, and into
// one of the master, of which nothing may be stored (runs, what it asks minions itself).
func (j *Jobs) Claim(jid, who string) bool {
	if !ValidJID(jid) || who != jobids.Master && !payload.IsJID(jid) {
		return false
	}
	if who == jobids.Master {
		j.IDs.Reserve(jid, who)
		return true
	}
	if whose, known := j.IDs.OwnerOf(jid); known {
		return whose == who
	}
	if !j.storedFor(jid, who) {
		return false
	}
	whose, _ := j.IDs.Reserve(jid, who)
	return whose == who
}

// NumberRun makes the job id of a run that somebody has asked for.
func (j *Jobs) NumberRun(id *eauth.Identity) string {
	if id.Everything() {
		return j.IDs.Next(time.Now())
	}
	return j.IDs.NextForGuest(time.Now())
}

// storedFor tells whether nothing is known of a job, or that it is one of this user's. A load names who asked for the
// job, and not how he proved it.
func (j *Jobs) storedFor(jid, user string) bool {
	load, err := Settled{j}.Load(jid)
	if err != nil {
		return false
	}
	if load == nil {
		return !j.book.Knows(jid)
	}
	return payload.NewPublishRequest(load).User() == user && !eauth.OfMachine(user, j.users...)
}

// ValidJID tells whether a text from outside may be a job id: it is one part of a tag, on one line.
func ValidJID(jid string) bool { return len(jid) <= payload.MaxJID && payload.ValidID(jid) }
