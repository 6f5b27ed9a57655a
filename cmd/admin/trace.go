package admin

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"brine/cmd/masterlink"
	"brine/cmd/tool"
	"brine/modules/ledger"
	"brine/modules/printable"
	"brine/wire/control"
	"brine/wire/payload"
)

// adminJob asks the master of this configuration about one job, and shows the answer: the words are JID and, if wanted,
// MINION.
func adminJob(c *tool.Call, cmd, description string, text func(got *payload.Map, minion string) string) error {
	a, err := openAdmin(c, adminWord{words: " JID [MINION]", description: description, least: 1, most: 2, watch: true, master: true,
		want: "Requires the id of a job, and if wanted the id of a minion"})
	if err != nil {
		return err
	}
	minion := strings.Join(a.Opt.Args[1:], "")
	return a.show(func() (answer, error) {
		request := payload.M("cmd", cmd, "jid", a.Opt.Args[0])
		if minion != "" {
			request.Set("minion", minion)
		}
		got, err := a.askMap(request)
		return answer{value: got, text: func() string { return text(got, minion) }, prose: true}, err
	})
}

// Trace shows the way of a job through every hop.
func Trace(c *tool.Call) error {
	return adminJob(c, control.Trace, "Show the way of a job through every hop, with times.", traceText)
}

// headText is the first line of what is said about a job.
func headText(got *payload.Map) string {
	n := func(k string) int64 { v, _ := got.Int(k); return v }
	text := "job " + got.Str("jid")
	if fun := got.Str("fun"); fun != "" {
		text += fmt.Sprintf(": %s on %s (%s)", fun, got.Str("tgt"), got.Str("tgt_type"))
	}
	if user := got.Str("user"); user != "" {
		text += " by " + user
	}
	if got.Has("minions") {
		text += fmt.Sprintf("; minions %d, returned %d, silent %d", n("minions"), n("returned"), n("silent"))
	}
	return printable.Line(text) + "\n"
}

// traceText is a trace as a table, a block for each minion. wanted is the one that was asked for, if any.
func traceText(got *payload.Map, wanted string) string {
	var b strings.Builder
	b.WriteString(headText(got))
	if us, _ := got.Int("began"); us != 0 {
		fmt.Fprintf(&b, "times after %s\n", ledger.Stamp(us).Time().Format("2006-01-02 15:04:05.000000 UTC"))
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	minion := ""
	for _, v := range got.List("hops") {
		h, _ := v.(*payload.Map)
		if id := h.Str("minion"); id != minion {
			minion = id
			if id != "" {
				fmt.Fprintf(w, "%s\t\t\t\n", printable.Line(id))
			}
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", hopTime(h), h.Str("hop"), printable.Line(hopState(h)), printable.Line(h.Str("where")))
	}
	_ = w.Flush() // into memory
	if wanted != "" && minion == "" {
		fmt.Fprintf(&b, "%s: the job has not been sent to it; brine why %s %s tells why\n", wanted, got.Str("jid"), wanted)
	}
	for _, k := range []string{"late", "open", "missing"} {
		if list := payload.Texts(got.List(k)); len(list) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", k, strings.Join(list, ", "))
		}
	}
	return b.String()
}

// hopTime is when a hop was, in milliseconds after the first.
func hopTime(h *payload.Map) string {
	us, ok := h.Int("after_us")
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%+.3f ms", float64(us)/float64(time.Millisecond/time.Microsecond))
}

func hopState(h *payload.Map) string {
	if s := h.Str("state"); s != string(ledger.HopDone) {
		return strings.ToUpper(s)
	}
	return ""
}

// Why shows why minions are silent.
func Why(c *tool.Call) error {
	return adminJob(c, control.Why, "Show why minions have not returned a job.", func(got *payload.Map, _ string) string { return whyText(got) })
}

// whyText is a line for each reason.
func whyText(got *payload.Map) string {
	var b strings.Builder
	b.WriteString(headText(got))
	reasons := got.List("reasons")
	if len(reasons) == 0 {
		b.WriteString("nobody is silent\n")
	}
	for _, v := range reasons {
		r, _ := v.(*payload.Map)
		b.WriteString(masterlink.ReasonLine(r) + "\n")
	}
	return b.String()
}
