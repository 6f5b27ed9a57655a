package main

import (
	"context"
	"os"
	"path/filepath"

	"brine/wire/client"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// control is the control socket of the session's master; nil where there is none, as with a master of Salt.
func (s *session) control() *ipc.ControlClient {
	path := filepath.Join(s.master.SockDir, controlSocket)
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeSocket == 0 {
		return nil
	}
	return ipc.NewControlClient(path)
}

// gone asks the master who certainly did not get a job. Without an answer nobody is known not to have it.
func (s *session) gone(ctx context.Context, jid string, ids []string) []string {
	c := s.control()
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	reply, err := c.Do(ctx, payload.M("cmd", cmdGone, "jid", jid, "ids", payload.AnyList(ids)))
	if err != nil {
		s.log.Debug("the master does not tell who got the job", "jid", jid, "err", err)
		return nil
	}
	return payload.Texts(reply.List("result"))
}

// standing asks the master how the minions of a job stand that have not returned.
func (s *session) standing(ctx context.Context, jid string, ids []string) client.Standing {
	c := s.control()
	if c == nil {
		return client.Standing{}
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	reply, err := c.Do(ctx, payload.M("cmd", cmdStanding, "jid", jid, "ids", payload.AnyList(ids)))
	if err != nil {
		s.log.Debug("the master does not tell how minions stand", "jid", jid, "err", err)
		return client.Standing{}
	}
	result, _ := reply.Value("result").(*payload.Map)
	return client.Standing{Gone: payload.Texts(result.List("gone")), Returned: payload.Texts(result.List("returned")), Running: payload.Texts(result.List("running"))}
}
