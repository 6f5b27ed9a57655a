package admin

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"brine/cmd/masterlink"
	"brine/cmd/tool"
	"brine/modules/fleet/ledger"
	"brine/modules/text/printable"
	"brine/wire/control"
)

// jobTool is a command about one job. Its arguments are JID and, optionally, MINION.
type jobTool struct {
	*adminTool
	jid, minion string
}

// openJob opens a command about one job. It asks the master of this configuration.
func openJob(c *tool.Call, description string) (*jobTool, error) {
	a, err := openAdmin(c, adminWord{words: " JID [MINION]", description: description, least: 1, most: 2, watch: true,
		master: true,
		want:   "Requires the id of a job, and if wanted the id of a minion"})
	if err != nil {
		return nil, err
	}
	return &jobTool{adminTool: a, jid: a.Opt.Args[0], minion: strings.Join(a.Opt.Args[1:], "")}, nil
}

// Trace shows the way of a job through every hop.
func Trace(c *tool.Call) error {
	j, err := openJob(c, "Show the way of a job through every hop, with times.")
	if err != nil {
		return err
	}
	return j.show(func() (answer, error) {
		got, err := ask(j.adminTool, control.GetTrace{JID: j.jid, Minion: j.minion})
		return answer{value: got.Raw, text: func() string { return traceText(&got, j.minion) }, prose: true}, err
	})
}

// Why shows why minions are silent.
func Why(c *tool.Call) error {
	j, err := openJob(c, "Show why minions have not returned a job.")
	if err != nil {
		return err
	}
	q := control.GetWhy{JID: j.jid}
	if j.minion != "" {
		q.IDs = []string{j.minion}
	}
	return j.show(func() (answer, error) {
		got, err := ask(j.adminTool, q)
		return answer{value: got.Raw, text: func() string { return whyText(&got) }, prose: true}, err
	})
}

// headText is the first line of an answer about a job.
func headText(job control.Job) string {
	text := "job " + job.JID
	if job.Fun != "" {
		text += fmt.Sprintf(": %s on %s (%s)", job.Fun, job.Tgt, job.TgtType)
	}
	if job.User != "" {
		text += " by " + job.User
	}
	if job.Minions != nil {
		text += fmt.Sprintf("; minions %d, returned %d, silent %d", *job.Minions, job.Returned, job.Silent)
	}
	return printable.Line(text) + "\n"
}

// traceText shows a trace as a table, a block for each minion. wanted is the minion that the command line
// names, if any.
func traceText(got *control.Trace, wanted string) string {
	var b strings.Builder
	b.WriteString(headText(got.Job))
	if got.Began != 0 {
		fmt.Fprintf(&b, "times after %s\n", ledger.Stamp(got.Began).Time().Format("2006-01-02 15:04:05.000000 UTC"))
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	minion := ""
	for _, h := range got.Hops {
		if h.Minion != minion {
			minion = h.Minion
			if minion != "" {
				fmt.Fprintf(w, "%s\t\t\t\n", printable.Line(minion))
			}
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", hopTime(h), h.Hop, printable.Line(hopState(h)), printable.Line(h.Where))
	}
	_ = w.Flush() // the writes go to memory
	if wanted != "" && minion == "" {
		fmt.Fprintf(&b, "%s: the job has not been sent to it; brine why %s %s tells why\n", wanted, got.JID, wanted)
	}
	for _, of := range []struct {
		what string
		ids  []string
	}{{"late", got.Late}, {"open", got.Open}, {"missing", got.Missing}} {
		if len(of.ids) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", of.what, strings.Join(of.ids, ", "))
		}
	}
	return b.String()
}

// hopTime is the time of a hop, in milliseconds after the first.
func hopTime(h control.Hop) string {
	if h.AfterUS == nil {
		return "-"
	}
	return fmt.Sprintf("%+.3f ms", float64(*h.AfterUS)/float64(time.Millisecond/time.Microsecond))
}

func hopState(h control.Hop) string {
	if h.State != string(ledger.HopDone) {
		return strings.ToUpper(h.State)
	}
	return ""
}

// whyText gives a line for each reason.
func whyText(got *control.Reasons) string {
	var b strings.Builder
	b.WriteString(headText(got.Job))
	if len(got.Reasons) == 0 {
		b.WriteString("nobody is silent\n")
	}
	for _, r := range got.Reasons {
		b.WriteString(masterlink.ReasonLine(r) + "\n")
	}
	return b.String()
}
