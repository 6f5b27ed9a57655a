package ledger

import (
	"fmt"
	"slices"
)

// Turns are the minions of a batch to which the job was not sent yet.
func (s *Snapshot) Turns() (ids []string) {
	if s.Job.Client == nil {
		return nil
	}
	for _, id := range s.Job.Client.Batch {
		if _, sent := slices.BinarySearch(s.Job.Minions, id); !sent {
			ids = append(ids, id)
		}
	}
	return ids
}

// notItsTurn tells of a minion of a batch to which the job was not sent.
func (c *Case) notItsTurn(cl *Client) Reason {
	if cl == nil || !slices.Contains(cl.Batch, c.ID) {
		return Reason{}
	}
	switch {
	case cl.Ended != 0:
		return say(BatchTurn, "the batch ended ", c.at(cl.Ended), " before its turn had come: the job was never "+
			"sent to it")
	case c.Undriven:
		return say(BatchTurn, "its turn in the batch had not come when process ", fmt.Sprint(cl.PID),
			" ended, which drove the batch: the job was never sent to it")
	}
	return say(BatchTurn, "its turn in the batch has not come: the job is sent to it when others have returned, by "+
		"process ", fmt.Sprint(cl.PID), ", which drives the batch")
}
