package masterlink

import (
	"context"
	"os"
	"path/filepath"

	"brine/cmd/session"
	"brine/wire/client"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// NewControl is the control socket of the session's master; nil where there is none, as with a master of Salt.
func NewControl(s *session.Session) *ipc.ControlClient {
	path := filepath.Join(s.Master.SockDir, control.Socket)
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeSocket == 0 {
		return nil
	}
	return ipc.NewControlClient(path)
}

// gone asks the master who certainly did not get a job. Without an answer nobody is known not to have it.
func gone(ctx context.Context, s *session.Session, jid string, ids []string) []string {
	c := NewControl(s)
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, control.AskTimeout)
	defer cancel()
	reply, err := c.Do(ctx, payload.M("cmd", control.Gone, "jid", jid, "ids", payload.AnyList(ids)))
	if err != nil {
		s.Log.Debug("the master does not tell who got the job", "jid", jid, "err", err)
		return nil
	}
	return payload.Texts(reply.List("result"))
}

// standing asks the master how the minions of a job stand that have not returned.
func standing(ctx context.Context, s *session.Session, jid string, ids []string) client.Standing {
	c := NewControl(s)
	if c == nil {
		return client.Standing{}
	}
	ctx, cancel := context.WithTimeout(ctx, control.AskTimeout)
	defer cancel()
	reply, err := c.Do(ctx, payload.M("cmd", control.Standing, "jid", jid, "ids", payload.AnyList(ids)))
	if err != nil {
		s.Log.Debug("the master does not tell how minions stand", "jid", jid, "err", err)
		return client.Standing{}
	}
	result, _ := reply.Value("result").(*payload.Map)
	return client.Standing{Gone: payload.Texts(result.List("gone")), Returned: payload.Texts(result.List("returned")), Running: payload.Texts(result.List("running"))}
}
