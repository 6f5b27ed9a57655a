package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brine/cmd/optparse"
	"brine/cmd/tool"
	"brine/cmd/top"
	"brine/modules/execution/brine"
	"brine/wire/control"
	"brine/wire/payload"
	"brine/wire/python"
)

// Jobs shows the current jobs of a daemon. For a master, these are the jobs that wait for returns. For a
// minion, these are the jobs that run, wait, or have an unacknowledged return.
func Jobs(c *tool.Call) error {
	a, err := openAdmin(c, adminWord{
		description: "Show the jobs that a running master waits for, or what a minion has in hand.",
		want:        "Takes no words", watch: true,
		options: []optparse.Option{minionOption(),
			{Flags: []string{"--minutes"}, Dest: "last_minutes", Metavar: "N", Kind: optparse.Int, Default: 60,
				Help: "How far a master looks back. Default: %default."},
			{Flags: []string{"--all"}, Kind: optparse.Flag, Dest: "all_jobs",
				Help: "Show the questions about jobs as well, such as find_job."}},
		remote: "ask_minion",
	})
	if err != nil {
		return err
	}
	if a.Opt.Int("last_minutes") < 1 {
		return a.Parser.Errorf("option --minutes: one minute at least")
	}
	next := func() (*payload.Map, error) {
		return askMap(a, control.GetJobList{Minutes: int64(a.Opt.Int("last_minutes"))})
	}
	if id := a.Opt.Str("ask_minion"); id != "" {
		if next, err = a.minionJobs(id); err != nil {
			return err
		}
	}
	return a.show(func() (answer, error) {
		m, err := next()
		if err != nil {
			return answer{}, err
		}
		if m.Has("queued") {
			return answer{value: m, text: func() string { return minionJobsText(m, time.Now()) }}, nil
		}
		if !a.Opt.Bool("all_jobs") {
			m.Set("jobs", withoutQuestions(m.List("jobs")))
		}
		return answer{value: m, text: func() string {
			return masterJobsText(m, a.Opt.Int("last_minutes"), time.Now())
		}}, nil
	})
}

// minionJobs asks one minion through its master.
func (a *adminTool) minionJobs(id string) (func() (*payload.Map, error), error) {
	f, err := a.fleet(id)
	if err != nil {
		return nil, err
	}
	f.job.Tgt, f.job.TgtType, f.job.Fun = []any{id}, "list", brine.Jobs
	return func() (*payload.Map, error) {
		returns, silent, err := f.returns(context.Background())
		if err != nil {
			return nil, err
		}
		for _, r := range returns {
			if list, ok := r.Value.(*payload.Map); ok && list.Has("queued") {
				return list, nil
			}
			silent = append(silent, r.ID+": "+textNoBrine)
		}
		return nil, tool.Exit(tool.ExitGeneric, "brine: %s", strings.Join(silent, ", "))
	}, nil
}

// withoutQuestions leaves out jobs that only ask about other jobs. Salt's salt sends such jobs while it waits.
func withoutQuestions(jobs []any) []any {
	out := []any{}
	for _, j := range jobs {
		m, _ := j.(*payload.Map)
		switch m.Str("fun") {
		case "saltutil.find_job", "saltutil.running", "saltutil.is_running", brine.Actors, brine.Jobs:
		default:
			out = append(out, j)
		}
	}
	return out
}

// masterJobsText shows the jobs that wait for returns, and the runners.
func masterJobsText(m *payload.Map, minutes int, now time.Time) string {
	var b strings.Builder
	if jobs := m.List("jobs"); len(jobs) > 0 {
		t := newTable("JOB", "AGE", "FUNCTION", "TARGET", "USER", "RETURNED", "WAITING FOR")
		for _, v := range jobs {
			j, _ := v.(*payload.Map)
			t.add(j.Str("jid"), top.Since(j.Str("since"), now), python.Str(j.Value("fun")), targetText(j),
				j.Str("user"), fmt.Sprintf("%d of %d", intOf(j, "returned"), intOf(j, "minions")),
				namesText(j.List("waiting_for"), intOf(j, "outstanding")))
		}
		b.WriteString(t.String())
	} else {
		fmt.Fprintf(&b, "No job of the last %d minutes waits for returns.\n", minutes)
	}
	if !m.Bool("whole") {
		b.WriteString("There are more jobs; the search was ended. Ask for fewer --minutes.\n")
	}
	if runs := m.List("runners"); len(runs) > 0 {
		t := newTable("RUNNER", "AGE", "FUNCTION", "USER")
		for _, v := range runs {
			j, _ := v.(*payload.Map)
			t.add(j.Str("jid"), top.Since(j.Str("since"), now), j.Str("fun"), j.Str("user"))
		}
		b.WriteString("\n" + t.String())
	}
	return b.String()
}

func intOf(m *payload.Map, name string) int64 {
	n, _ := m.Int(name)
	return n
}

// targetText writes a target as a user would type it.
func targetText(j *payload.Map) string {
	if list, ok := j.Value("tgt").([]any); ok {
		return namesText(list, int64(len(list)))
	}
	text := python.Str(j.Value("tgt"))
	if kind := j.Str("tgt_type"); kind != "" && kind != "glob" {
		text = kind + " " + text
	}
	return text
}

// namesText names some ids and counts the others.
func namesText(list []any, all int64) string {
	const most = 4
	names := make([]string, 0, most)
	for _, v := range list[:min(len(list), most)] {
		names = append(names, python.Str(v))
	}
	text := strings.Join(names, ", ")
	if more := all - int64(len(names)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// minionJobsText shows the jobs that run, the jobs that wait, and the returns that masters have not
// acknowledged.
func minionJobsText(m *payload.Map, now time.Time) string {
	var b strings.Builder
	running, queued, returns := m.List("running"), m.List("queued"), m.List("returns")
	if len(running)+len(queued) > 0 {
		t := newTable("JOB", "STATE", "AGE", "FUNCTION", "USER")
		for _, v := range running {
			j, _ := v.(*payload.Map)
			t.add(j.Str("jid"), "running", top.Since(j.Str("since"), now), python.Str(j.Value("fun")), j.Str("user"))
		}
		for _, v := range queued {
			j, _ := v.(*payload.Map)
			t.add(j.Str("jid"), fmt.Sprintf("queued, place %d", intOf(j, "place")), "-", python.Str(j.Value("fun")),
				j.Str("user"))
		}
		b.WriteString(t.String())
	} else {
		b.WriteString("No job runs or waits.\n")
	}
	if most := intOf(m, "most"); most > 0 {
		fmt.Fprintf(&b, "%d jobs at once (process_count_max).\n", most)
	}
	if len(returns) > 0 {
		t := newTable("RETURN OF", "AGE", "SIZE", "FOR MASTER")
		for _, v := range returns {
			j, _ := v.(*payload.Map)
			t.add(j.Str("jid"), top.Since(j.Str("since"), now), top.Bytes(intOf(j, "bytes")), j.Str("master"))
		}
		b.WriteString("\n" + t.String())
	} else {
		b.WriteString("The masters have all returns.\n")
	}
	return b.String()
}
