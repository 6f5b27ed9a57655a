package answers

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
func (d *Service) Standing(ctx context.Context, jid string, ids []string) control.Standing {
	now := ledger.At(time.Now())
	stands := control.Standing{Gone: d.Gone(ctx, jid, ids)}
	for _, row := range d.Book.Rows(jid, ids) {
		switch {
		case row.Returned != 0:
			stands.Returned = append(stands.Returned, row.ID)
		case atWork(&row, now) && d.Book.Peers.At(row.ID, now) == ledger.LinkUp:
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

// goneAfter is how long after a job was sent what the publish socket tells of connections counts: that comes after the
// fact.
const goneAfter = 20 * time.Millisecond

// Gone lists those of some minions that certainly did not get a job from this master: they had no connection here, and
// there was none of which it is not known whose it is. It waits until the job is sent, and a moment longer.
func (d *Service) Gone(ctx context.Context, jid string, ids []string) []string {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		sent, known := d.Book.Sent(jid)
		switch {
		case !known:
			return nil
		case sent != 0 && time.Since(sent.Time()) > goneAfter:
			return d.Book.Peers.Gone(ids, sent)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
