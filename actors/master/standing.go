package master

import (
	"context"
	"time"

	"brine/modules/fleet/ledger"
	"brine/wire/control"
)

// saidLately is how long the word of a minion counts that it is at work on a job: it is asked again after that.
const saidLately = 30 * time.Second

// Standing tells how some minions stand with a job that they were sent: who certainly did not get it, whose return is
// here, who says that it runs and is connected. Nobody is asked; of whom nothing is known is in none of the lists.
func (m *Master) Standing(ctx context.Context, jid string, ids []string) control.Standing {
	c, now := m.core, ledger.At(time.Now())
	stands := control.Standing{Gone: c.gone(ctx, jid, ids)}
	for _, row := range c.book.Rows(jid, ids) {
		switch {
		case row.Returned != 0:
			stands.Returned = append(stands.Returned, row.ID)
		case atWork(&row, now) && c.book.Peers.At(row.ID, now) == ledger.LinkUp:
			stands.Running = append(stands.Running, row.ID)
		}
	}
	return stands
}

// atWork tells whether a minion has said lately that it runs the job.
func atWork(row *ledger.Row, now ledger.Stamp) bool {
	said := row.Minion
	if said == nil {
		return false
	}
	return said.Started != 0 && said.Ended == 0 && said.Outcome == ledger.OutcomeNone &&
		now.Sub(said.Now+ledger.Stamp(said.Offset)) < saidLately
}
