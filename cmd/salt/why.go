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

// hops gathers what this tool itself knows about a job.
type hops struct {
	t     *saltTool
	jid   string
	facts ledger.Client
	mute  []string // silent minions
	lost  uncalled
}

// hops starts the record of a job. If a job is published several times, the first publication counts.
func (t *saltTool) hops(run *client.Run) *hops {
	return &hops{t: t, jid: run.JID, facts: ledger.Client{PID: int64(os.Getpid()), Started: ledger.At(t.began),
		Sent: ledger.At(run.Asked), Replied: ledger.At(run.Told), Seen: make(map[string]ledger.Stamp,
			len(run.Minions))}}
}

// see notes a minion's return or silence.
func (h *hops) see(ret client.Return) {
	if ret.Silence == client.Answered {
		h.facts.Seen[ret.ID] = ledger.At(time.Now())
		h.lost.see(ret)
	} else {
		h.mute = append(h.mute, ret.ID)
	}
}

// These limits apply when the tool tells the master: the first to the attempt, the second to the delay at the
// end of this tool.
const (
	tellWithin = 50 * time.Millisecond
	tellCosts  = time.Millisecond
)

// tell sends the facts to the master in the background, if there are facts and a brine master. The returned
// function waits a moment for the end of the transfer.
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

// takeTurns tells the master which minions get the job in turns.
func (h *hops) takeTurns(ids []string) {
	h.facts.Batch = slices.Sorted(slices.Values(ids))
	h.hand()
}

// hand sends the facts to the master if it is a brine master.
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

// explains tells whether to print reasons: if stderr is a terminal, or if an option asks for them.
func (t *saltTool) explains() bool { return t.Opt.Bool("tell_why") || terminal.IsTerminal(t.Stderr) }

// explain prints to stderr which returners were not called. If the user wants reasons, it also prints why
// minions are silent.
func (h *hops) explain(ctx context.Context) {
	h.t.sayReasons(h.lost.lines())
	if len(h.mute) > 0 && h.t.explains() {
		h.t.sayReasons(h.t.reasons(ctx, h.jid, h.mute))
	}
}

// sayReasons prints lines to stderr.
func (t *saltTool) sayReasons(lines []string) {
	for _, line := range lines {
		fmt.Fprintln(t.Stderr, line)
	}
}

// reasons asks the master why minions have not returned a job and gives a line for each minion. If jid is
// empty, the question is why no job was made for them.
func (t *saltTool) reasons(ctx context.Context, jid string, ids []string) []string {
	master := masterlink.Daemon(t.Session)
	if master == nil {
		return t.noReasons("it is not brine's, or not on this machine.")
	}
	asked, cancel := context.WithTimeout(ctx, control.AskTimeout)
	defer cancel()
	got, err := control.Ask(asked, master, control.GetWhy{JID: jid, IDs: slices.Sorted(slices.Values(ids))})
	switch {
	case err != nil && ctx.Err() != nil: // the tool ends, so the reasons are of no use
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

// noReasons returns the text for a master that gives no reasons. It says so once, and only if an option asked
// for reasons.
func (t *saltTool) noReasons(why string) []string {
	if !t.Opt.Bool("tell_why") || t.untold {
		return nil
	}
	t.untold = true
	return []string{"The master does not tell why: " + why}
}

// explainNobody says why a target that names minions matches none. For other targets the reason is not known.
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
