package master

import (
	"time"

	"brine/modules/eauth"
	"brine/modules/fleet/jobids"
	"brine/wire/payload"
)

// claim tells whether somebody may publish under the job id that he brings along: a new one, which is his from then on,
// or that of a job of his, as the parts of a batch do. With rules nobody gets into the job of somebody else, and into
// one of the master, of which nothing may be stored (runs, what it asks minions itself).
func (j *jobs) claim(jid, who string) bool {
	if !validJID(jid) || who != jobids.Master && !payload.IsJID(jid) {
		return false
	}
	if who == jobids.Master {
		j.ids.Reserve(jid, who)
		return true
	}
	if whose, known := j.ids.OwnerOf(jid); known {
		return whose == who
	}
	if !j.storedFor(jid, who) {
		return false
	}
	whose, _ := j.ids.Reserve(jid, who)
	return whose == who
}

// numberRun makes the job id of a run that somebody has asked for.
func (j *jobs) numberRun(id *eauth.Identity) string {
	if id.Everything() {
		return j.ids.Next(time.Now())
	}
	return j.ids.NextForGuest(time.Now())
}

// storedFor tells whether nothing is known of a job, or that it is one of this user's. A load names who asked for the
// job, and not how he proved it.
func (j *jobs) storedFor(jid, user string) bool {
	load, err := settledJobs{j}.Load(jid)
	if err != nil {
		return false
	}
	if load == nil {
		return !j.book.Knows(jid)
	}
	return payload.NewPublishRequest(load).User() == user && !eauth.OfMachine(user, j.users...)
}

// validJID tells whether a text from outside may be a job id: it is one part of a tag, on one line.
func validJID(jid string) bool { return len(jid) <= payload.MaxJID && payload.ValidID(jid) }
