package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"brine/modules/ledger"
	"brine/wire/client"
	"brine/wire/ipc"
	"brine/wire/payload"

	"golang.org/x/term"
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
	reply, err := c.Do(ctx, payload.M("cmd", cmdGone, "jid", jid, "ids", listOf(ids)))
	if err != nil {
		s.log.Debug("the master does not tell who got the job", "jid", jid, "err", err)
		return nil
	}
	return textsOf(reply.List("result"))
}

// hops are the facts of the command line itself.
type hops struct {
	t     *saltTool
	jid   string
	facts ledger.Client
	mute  []string // silent minions
}

// hops begins the facts of a job.
func (t *saltTool) hops(run *client.Run) *hops {
	return &hops{t: t, jid: run.JID, facts: ledger.Client{PID: int64(os.Getpid()), Started: ledger.At(t.began),
		Sent: ledger.At(run.Asked), Replied: ledger.At(run.Told), Seen: make(map[string]ledger.Stamp, len(run.Minions))}}
}

// see notes what has come of a minion.
func (h *hops) see(ret client.Return) {
	if ret.Silence == client.Answered {
		h.facts.Seen[ret.ID] = ledger.At(time.Now())
	} else {
		h.mute = append(h.mute, ret.ID)
	}
}

// Limits of telling the master: of the attempt, and of what it may cost this tool when all else is done.
const (
	tellWithin = 50 * time.Millisecond
	tellCosts  = time.Millisecond
)

// tell hands the facts to the master, if it takes them, while this tool goes on. The function that comes back waits a
// moment for the end of that.
func (h *hops) tell() (wait func()) {
	c := h.t.control()
	if c == nil {
		return func() {}
	}
	h.facts.Ended = ledger.At(time.Now())
	if h.facts.Why = "all have returned"; len(h.mute) > 0 {
		h.facts.Why = fmt.Sprintf("gave up on %d", len(h.mute))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), tellWithin)
		defer cancel()
		if _, err := c.Do(ctx, payload.M("cmd", cmdClient, "jid", h.jid, "facts", h.facts.Map())); err != nil {
			h.t.log.Debug("the master does not take what this tool knows of the job", "jid", h.jid, "err", err)
		}
	}()
	return func() {
		select {
		case <-done:
		case <-time.After(tellCosts):
		}
	}
}

// explain says on stderr why minions are silent: to people, or where it is asked for.
func (h *hops) explain(ctx context.Context) {
	t := h.t
	asked := t.opt.Bool("tell_why")
	if len(h.mute) == 0 || !asked && !isTerminal(t.stderr) {
		return
	}
	c := t.control()
	if c == nil {
		if asked {
			fmt.Fprintln(t.stderr, "The master does not tell why: it is not brine's, or not on this machine.")
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	reply, err := c.Do(ctx, payload.M("cmd", cmdWhy, "jid", h.jid))
	if err != nil {
		t.log.Debug("the master does not tell why", "jid", h.jid, "err", err)
		if asked {
			fmt.Fprintf(t.stderr, "The master does not tell why: %v\n", err)
		}
		return
	}
	silent := make(map[string]bool, len(h.mute))
	for _, id := range h.mute {
		silent[id] = true
	}
	result, _ := reply.Value("result").(*payload.Map)
	for _, v := range result.List("reasons") {
		if one, ok := v.(*payload.Map); ok && silent[one.Str("minion")] {
			fmt.Fprintln(t.stderr, reasonLine(one))
		}
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
