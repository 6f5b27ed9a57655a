package salt

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"brine/cmd/masterlink"
	"brine/cmd/terminal"
	"brine/modules/fleet/ledger"
	"brine/wire/client"
	"brine/wire/control"
)

// hops are the facts of the command line itself.
type hops struct {
	t     *saltTool
	jid   string
	facts ledger.Client
	mute  []string // silent minions
	lost  uncalled
}

// hops begins the facts of a job. Of a job that is published several times the first publication counts.
func (t *saltTool) hops(run *client.Run) *hops {
	return &hops{t: t, jid: run.JID, facts: ledger.Client{PID: int64(os.Getpid()), Started: ledger.At(t.began),
		Sent: ledger.At(run.Asked), Replied: ledger.At(run.Told), Seen: make(map[string]ledger.Stamp,
			len(run.Minions))}}
}

// see notes what has come of a minion.
func (h *hops) see(ret client.Return) {
	if ret.Silence == client.Answered {
		h.facts.Seen[ret.ID] = ledger.At(time.Now())
		h.lost.see(ret)
	} else {
		h.mute = append(h.mute, ret.ID)
	}
}

// Limits of telling the master: of the attempt, and of what it may cost this tool when all else is done.
const (
	tellWithin = 50 * time.Millisecond
	tellCosts  = time.Millisecond
)

// tell hands the facts to the master, if there are any and it takes them, while this tool goes on. The function that
// comes back waits a moment for the end of that.
func (h *hops) tell() (wait func()) {
	if h == nil || masterlink.Daemon(h.t.Session) == nil {
		return func() {}
	}
	h.facts.Ended = ledger.At(time.Now())
	if h.facts.Why = "all have returned"; len(h.mute) > 0 {
		h.facts.Why = fmt.Sprintf("gave up on %d", len(h.mute))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.hand()
	}()
	return func() {
		select {
		case <-done:
		case <-time.After(tellCosts):
		}
	}
}

// takeTurns tells the master whom the job is sent to in turns.
func (h *hops) takeTurns(ids []string) {
	h.facts.Batch = slices.Sorted(slices.Values(ids))
	h.hand()
}

// hand hands the facts to the master, if that takes them.
func (h *hops) hand() {
	master := masterlink.Daemon(h.t.Session)
	if master == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellWithin)
	defer cancel()
	if _, err := control.Ask(ctx, master, control.NoteClient{JID: h.jid, Facts: h.facts.Map()}); err != nil {
		h.t.Log.Debug("the master does not take what this tool knows of the job", "jid", h.jid, "err", err)
	}
}

// explains tells whether reasons are wanted: by people, or because they were asked for.
func (t *saltTool) explains() bool { return t.Opt.Bool("tell_why") || terminal.IsTerminal(t.Stderr) }

// explain says on stderr which returners were not called, and why minions are silent where that is wanted.
func (h *hops) explain(ctx context.Context) {
	h.t.sayReasons(h.lost.lines())
	if len(h.mute) > 0 && h.t.explains() {
		h.t.sayReasons(h.t.reasons(ctx, h.jid, h.mute))
	}
}

// sayReasons shows what reasons has found.
func (t *saltTool) sayReasons(lines []string) {
	for _, line := range lines {
		fmt.Fprintln(t.Stderr, line)
	}
}

// reasons asks the master why minions have not returned a job, or why no job was made for them when jid is empty: a
// line for each of them.
func (t *saltTool) reasons(ctx context.Context, jid string, ids []string) []string {
	master := masterlink.Daemon(t.Session)
	if master == nil {
		return t.noReasons("it is not brine's, or not on this machine.")
	}
	asked, cancel := context.WithTimeout(ctx, control.AskTimeout)
	defer cancel()
	got, err := control.Ask(asked, master, control.GetWhy{JID: jid, IDs: slices.Sorted(slices.Values(ids))})
	switch {
	case err != nil && ctx.Err() != nil: // the tool ends: nobody waits for reasons
		return nil
	case err != nil:
		masterlink.Silent(ctx, t.Session, "the master does not tell why", jid, err)
		return t.noReasons(err.Error())
	}
	lines := make([]string, len(got.Reasons))
	for i, r := range got.Reasons {
		lines[i] = masterlink.ReasonLine(r)
	}
	return lines
}

// noReasons is what is said when the master does not tell: nothing, unless it was asked for, and that once.
func (t *saltTool) noReasons(why string) []string {
	if !t.Opt.Bool("tell_why") || t.untold {
		return nil
	}
	t.untold = true
	return []string{"The master does not tell why: " + why}
}

// explainNobody says why a target that names minions means none. What other targets would mean is not known.
func (t *saltTool) explainNobody(ctx context.Context, job client.Job) {
	if !t.explains() {
		return
	}
	var ids []string
	switch tgt := job.Tgt.(type) {
	case string:
		if job.TgtType != "list" && (job.TgtType != "glob" || strings.ContainsAny(tgt, "*?[")) {
			return
		}
		ids = []string{tgt}
	case []any:
		ids = onlyTexts(tgt)
	case []string:
		ids = tgt
	}
	if len(ids) > 0 {
		t.sayReasons(t.reasons(ctx, "", ids))
	}
}
