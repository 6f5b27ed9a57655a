package workers

import (
	"brine/modules/fleet/ledger"
	"brine/wire/payload"
)

// maxFacts bounds the jobs of which one request may tell.
const maxFacts = 1000

// minionFacts takes what a brine minion says of jobs that are not over.
func (d *returnHandler) minionFacts(r *call) (any, error) {
	jobs := payload.FactsOfJobs(r.load)
	if !r.req.Opened.Load().TokenOK || jobs.Len() > maxFacts {
		return false, nil
	}
	for k, v := range jobs.All() {
		jid, isText := k.(string)
		m, err := ledger.UnpackMinion(payload.AsBytes(v))
		if !isText || err != nil || !d.jobs.Knows(jid) {
			continue
		}
		d.record.Book.Hear(jid, r.id, d.record.Book.Peers.Timed(r.id, m, r.load, r.from.At))
	}
	return true, nil
}
