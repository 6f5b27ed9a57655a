package masterlink

import (
	"context"

	"brine/cmd/session"
	"brine/wire/client"
	"brine/wire/control"
)

// Daemon returns the control socket of the session's master. It is nil if the master has none, as a Salt
// master.
func Daemon(s *session.Session) *control.Daemon {
	if d := control.At(s.Master.SockDir); d.Here() {
		return d
	}
	return nil
}

// gone asks the master which minions certainly did not get a job. Without an answer the list is empty.
func gone(ctx context.Context, s *session.Session, jid string, ids []string) []string {
	d := Daemon(s)
	if d == nil {
		return nil
	}
	asked, cancel := context.WithTimeout(ctx, control.AskTimeout)
	defer cancel()
	got, err := control.Ask(asked, d, control.GetGone{JID: jid, IDs: ids})
	if err != nil {
		Silent(ctx, s, "the master does not tell who got the job", jid, err)
		return nil
	}
	return got
}

// Silent logs that the master has not answered a question about a job. If ctx, the context of the question, has
// ended, the tool itself gave up, and nothing is logged.
func Silent(ctx context.Context, s *session.Session, what, jid string, err error) {
	if ctx.Err() == nil {
		s.Log.Debug(what, "jid", jid, "err", err)
	}
}

// standing asks the master for the state of the minions that have not returned a job.
func standing(ctx context.Context, s *session.Session, jid string, ids []string) client.Standing {
	d := Daemon(s)
	if d == nil {
		return client.Standing{}
	}
	asked, cancel := context.WithTimeout(ctx, control.AskTimeout)
	defer cancel()
	got, err := control.Ask(asked, d, control.GetStanding{JID: jid, IDs: ids})
	if err != nil {
		Silent(ctx, s, "the master does not tell how minions stand", jid, err)
		return client.Standing{}
	}
	return client.Standing{Gone: got.Gone, Returned: got.Returned, Running: got.Running}
}
