package ledger

import (
	"time"

	"brine/wire/payload"
)

// stale is by how much a request may be younger than what it says.
const stale = 2 * time.Second

// Timed notes what a minion's word about a job, which came with a request at a moment, says about its clock. It sets
// the offset of m and returns it.
func (p *Peers) Timed(id string, m *Minion, request *payload.Map, at time.Time) *Minion {
	if ts, ok := request.Int("ts"); ok && m.Now.Time().Sub(time.Unix(ts, 0)).Abs() > stale {
		m.Offset = p.Get(id).Offset // the request was sealed once more, long after this was said
		return m
	}
	m.Offset = p.Clock(id, m.Now, At(at))
	return m
}
