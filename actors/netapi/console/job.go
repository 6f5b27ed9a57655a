package console

import (
	"context"
	"maps"
	"strings"
	"time"

	"brine/wire/control"
	"brine/wire/payload"
)

// These are the rows of the view job: the tables job (one row), ways, why and output.
type (
	// JobHead is the job itself.
	JobHead struct {
		JID      string `json:"jid"`
		Fun      string `json:"fun"`
		Arg      string `json:"arg"`
		Tgt      string `json:"tgt"`
		TgtType  string `json:"tgt_type"`
		User     string `json:"user"`
		Began    int64  `json:"began" doc:"microseconds since 1970, 0: not known"`
		Minions  int64  `json:"minions"`
		Returned int64  `json:"returned"`
		Silent   int64  `json:"silent"`
	}
	// Way is the way of a job to one minion and back. The master's own way has no minion.
	Way struct {
		Minion string `json:"minion"`
		State  string `json:"state" doc:"returned, late, missing, open, or empty"`
		Hops   []Step `json:"hops"`
	}
	// Step is one hop (docs/silence.md).
	Step struct {
		Hop   string `json:"hop"`
		State string `json:"state" doc:"done, late, open, missing, untold"`
		After *int64 `json:"after_us" doc:"after the first, null when it has not been"`
		Where string `json:"where"`
	}
	// Silence is the reason why a minion has not returned.
	Silence struct {
		Minion string `json:"minion"`
		Code   string `json:"code"`
		Text   string `json:"text"`
	}
)

// These are the times of the view of a job. It asks again after an event about the job, and otherwise at
// intervals.
const (
	jobQuiet = 2 * time.Second
	jobDone  = 20 * time.Second
	jobSalts = 15 * time.Second // beside a Salt master, which stores each question as a job
	whyEvery = 3 * time.Second
)

// jobView is the state of one stream about a job.
type jobView struct {
	c                       *console
	o                       *output
	who                     Session
	jid                     string
	head, ways, why, output *differ
	looked, reasoned        time.Time
	returned                int64 // number of returns in the shown output
	dirty, done             bool
	silent                  rows         // last reasons of minions without a return
	back                    *payload.Map // ids of minions with a return
}

// showJob streams one job: its head, its way, the reasons of silence and the returns.
func (c *console) showJob(ctx context.Context, q request, o *output) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := &jobView{c: c, o: o, who: q.who, jid: q.query("jid"), returned: -1, dirty: true,
		head: newDiffer("job"), ways: newDiffer("ways"), why: newDiffer("why"), output: newDiffer("output")}
	if !payload.IsJID(v.jid) {
		return c.repeat(ctx, q, o, jobQuiet, func(context.Context) error {
			return o.note("job", &problem{404, "This is no id of a job."})
		})
	}
	bus := c.listen(ctx, func(tag string) bool { return strings.HasPrefix(tag, "salt/job/"+v.jid+"/") }, func() {})
	return c.repeat(ctx, q, o, jobsEvery, func(ctx context.Context) error {
		for ; len(bus) > 0; v.dirty = true {
			<-bus
		}
		here := c.Master != nil && c.Master.Here()
		quiet := jobQuiet
		switch {
		case v.done:
			quiet = jobDone
		case !here:
			quiet = jobSalts
		}
		if !v.dirty && v.done && !here || !v.dirty && time.Since(v.looked) < quiet {
			return nil
		}
		v.dirty, v.looked = false, time.Now()
		if !here {
			return v.lookup(ctx)
		}
		return v.look(ctx)
	})
}

// look asks a brine master.
func (v *jobView) look(ctx context.Context) error {
	trace, err := ask(ctx, v.c, control.GetTrace{JID: v.jid})
	if err != nil {
		return v.o.note("job", err)
	}
	if !may(v.who.Rules, rightJobs) && !v.c.ownJob(v.who, trace.User) {
		return v.o.note("job", &problem{403, "This job is somebody else's, and no rule shows it to you."})
	}
	head := JobHead{JID: v.jid, Fun: trace.Fun, Tgt: trace.Tgt, TgtType: trace.TgtType, User: trace.User,
		Began: trace.Began, Returned: trace.Returned, Silent: trace.Silent, Minions: -1}
	if trace.Minions != nil {
		head.Minions = *trace.Minions
	}
	load, err := ask(ctx, v.c, control.GetJobLoad{JID: v.jid})
	if err == nil && load != nil {
		head.Arg = arguments(load.List("arg"))
	}
	if err := v.o.rows(v.head, rows{"job": head}, nil); err != nil {
		return err
	}
	if err := v.o.rows(v.ways, waysOf(trace), nil); err != nil {
		return err
	}
	if err := v.outputs(ctx, head.Returned); err != nil {
		return err
	}
	v.done = head.Minions >= 0 && head.Silent == 0
	return v.reasons(ctx, head.Silent)
}

// reasons asks why minions are silent, as long as some are. A minion that has returned gets no reason, even if
// the answer contains one.
func (v *jobView) reasons(ctx context.Context, silent int64) error {
	if silent == 0 {
		v.silent = rows{}
	} else if time.Since(v.reasoned) >= whyEvery {
		got, err := ask(ctx, v.c, control.GetWhy{JID: v.jid})
		v.reasoned = time.Now()
		if err != nil {
			return v.o.note("why", err)
		}
		v.silent = rows{}
		for _, r := range got.Reasons {
			if r.Code != "returned" && r.Code != "returned_late" {
				v.silent[r.Minion] = Silence{r.Minion, r.Code, strings.ToValidUTF8(r.Text, "�")}
			}
		}
	}
	maps.DeleteFunc(v.silent, func(id string, _ any) bool { return v.back.Has(id) })
	return v.o.rows(v.why, v.silent, nil)
}

// outputs asks for the returns if there are new ones.
func (v *jobView) outputs(ctx context.Context, returned int64) error {
	if returned == v.returned {
		return nil
	}
	got, err := ask(ctx, v.c, control.GetJobReturns{JID: v.jid})
	if err != nil {
		return v.o.note("output", err)
	}
	v.returned, v.back = int64(got.Len()), payload.NewMap(got.Len())
	for id := range got.All() {
		v.back.Set(id, true)
	}
	return v.o.rows(v.output, folded(got), nil)
}

// lookup asks a Salt master, which has only the job and its returns.
func (v *jobView) lookup(ctx context.Context) error {
	got, err := v.c.call(ctx, v.who, payload.M("client", "runner", "fun", "jobs.list_job", "kwarg",
		payload.M("jid", v.jid)))
	if err != nil {
		return v.o.note("job", err)
	}
	m, ok := got.(*payload.Map)
	if !ok || m.Has("Error") {
		return v.o.note("job", &problem{404, "The master knows no such job."})
	}
	result := m.Map("Result")
	head := JobHead{JID: v.jid, Fun: first(m, "Function"), Tgt: first(m, "Target"), TgtType: first(m, "Target-type"),
		User: first(m, "User"), Minions: int64(len(m.List("Minions"))), Returned: int64(result.Len()),
		Arg: arguments(m.List("Arguments"))}
	if !may(v.who.Rules, rightJobs) && !v.c.ownJob(v.who, head.User) {
		return v.o.note("job", &problem{403, "This job is somebody else's, and no rule shows it to you."})
	}
	head.Silent = max(0, head.Minions-head.Returned)
	v.done = head.Silent == 0
	if err := v.o.rows(v.head, rows{"job": head}, nil); err != nil {
		return err
	}
	silent := rows{}
	for _, id := range payload.Texts(m.List("Minions")) {
		if !result.Has(id) {
			silent[id] = Silence{id, "unknown", "It has not returned; a master of Salt does not tell why."}
		}
	}
	if err := v.o.rows(v.why, silent, nil); err != nil {
		return err
	}
	return v.o.rows(v.output, folded(result), nil)
}

// waysOf groups the hops of a job by minions.
func waysOf(trace control.Trace) rows {
	ways := map[string]*Way{}
	for _, h := range trace.Hops {
		w := ways[h.Minion]
		if w == nil {
			w = &Way{Minion: h.Minion}
			ways[h.Minion] = w
		}
		if h.State != "untold" {
			w.Hops = append(w.Hops, Step{h.Hop, h.State, h.AfterUS, h.Where})
		}
		switch {
		case h.State == "late", h.State == "missing" && w.State != "late", h.State == "open" && w.State == "":
			w.State = h.State
		case h.State == "done" && (h.Hop == "arrive" || h.Hop == "store"):
			w.State = "returned"
		}
	}
	now := rows{}
	for id, w := range ways {
		now[id] = w
	}
	return now
}

// arguments writes the arguments of a job in one line, as a user would type them.
func arguments(list []any) string {
	var words []string
	for _, v := range list {
		m, ok := v.(*payload.Map)
		if !ok || !m.Bool("__kwarg__") {
			words = append(words, text(v))
			continue
		}
		for k, v := range m.All() {
			if name, ok := k.(string); ok && name != "__kwarg__" {
				words = append(words, name+"="+text(v))
			}
		}
	}
	line := strings.Join(words, " ")
	if len(line) > 4096 {
		line = strings.ToValidUTF8(line[:4096], "") + "…"
	}
	return line
}
