package console

import (
	"context"
	"slices"
	"strings"
	"time"

	"brine/modules/outputters"
	"brine/wire/control"
	"brine/wire/payload"
)

// JobRow is a row of the table jobs.
type JobRow struct {
	JID      string `json:"jid"`
	Fun      string `json:"fun"`
	Tgt      string `json:"tgt"`
	TgtType  string `json:"tgt_type"`
	User     string `json:"user"`
	State    string `json:"state" doc:"running, queued (on all minions that it waits for), done, or runner"`
	Minions  int64  `json:"minions" doc:"-1 when that is not known"`
	Returned int64  `json:"returned"`
}

const (
	maxJobs       = 200 // newest jobs that a page gets
	lookBack      = 60  // minutes
	askJobsEvery  = time.Second
	stateRunning  = "running"
	stateQueued   = "queued"
	stateDone     = "done"
	runnerTgtType = "runner"
)

// jobList is what a stream knows of jobs: those of the store, what the bus tells since, and which ones wait for returns.
type jobList struct {
	c     *console
	who   Session
	all   bool // jobs of everybody
	known map[string]*JobRow
	asked time.Time
	whole bool // the store has been read
}

// showJobs streams the table jobs.
func (c *console) showJobs(ctx context.Context, q request, o *output) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &jobList{c: c, who: q.who, all: may(q.who.Rules, rightJobs), known: map[string]*JobRow{}}
	bus := c.listen(ctx, func(tag string) bool { return strings.HasPrefix(tag, "salt/job/") }, func() {})
	d := newDiffer("jobs")
	return c.repeat(ctx, q, o, jobsEvery, func(ctx context.Context) error {
		for len(bus) > 0 {
			h := <-bus
			if h.tag == "" {
				if err := o.note("bus", busTrouble(h.err)); err != nil {
					return err
				}
				continue
			}
			l.hear(h)
		}
		var trouble error
		if time.Since(l.asked) >= askJobsEvery {
			trouble = l.ask(ctx)
		}
		l.trim()
		if trouble != nil {
			return o.rows(d, nil, trouble)
		}
		now := rows{}
		for jid, j := range l.known {
			if l.all || j.User == l.who.User {
				now[jid] = *j
			}
		}
		return o.rows(d, now, nil)
	})
}

// hear takes what the bus tells: a job is new, a return has come.
func (l *jobList) hear(h heard) {
	part := strings.Split(h.tag, "/") // salt/job/JID/new, salt/job/JID/ret/ID
	if len(part) < 4 || !payload.IsJID(part[2]) || h.data == nil {
		return
	}
	switch part[3] {
	case "new":
		minions := int64(len(h.data.List("minions")))
		l.known[part[2]] = &JobRow{JID: part[2], Fun: text(h.data.Value("fun")), Tgt: text(h.data.Value("tgt")), TgtType: str(h.data, "tgt_type"),
			User: str(h.data, "user"), State: stateRunning, Minions: minions}
	case "ret":
		if j := l.known[part[2]]; j != nil && j.Minions >= 0 && j.Returned < j.Minions {
			if j.Returned++; j.Returned == j.Minions {
				j.State = stateDone
			}
		}
	}
}

// ask looks at which jobs wait for returns, and the first time at what the store has.
func (l *jobList) ask(ctx context.Context) error {
	l.asked = time.Now()
	here := l.c.Master != nil && l.c.Master.Here()
	if !l.whole && (l.all || here) { // a runner is for those with a rule for it
		if err := l.stored(ctx); err != nil {
			return err
		}
		l.whole = true
	}
	if !here {
		return nil // a master of Salt is not asked each second: what the bus tells has to do
	}
	got, err := ask(ctx, l.c, control.GetJobList{Minutes: lookBack})
	if err != nil {
		return err
	}
	open := map[string]bool{}
	for _, v := range got.List("jobs") {
		if m, ok := v.(*payload.Map); ok {
			open[str(m, "jid")] = true
			j := l.row(str(m, "jid"), m)
			j.State, j.Minions, j.Returned = stateRunning, whole(m, "minions"), whole(m, "returned")
		}
	}
	for _, v := range got.List("runners") {
		if m, ok := v.(*payload.Map); ok {
			open[str(m, "jid")] = true
			j := l.row(str(m, "jid"), m)
			j.State, j.TgtType, j.Minions = stateRunning, runnerTgtType, -1
		}
	}
	for jid, j := range l.known {
		if j.State != stateDone && !open[jid] {
			if j.State = stateDone; j.Minions >= 0 && got.Bool("whole") {
				j.Returned = j.Minions
			}
		}
	}
	return nil
}

// row is that of a job, made when there is none.
func (l *jobList) row(jid string, m *payload.Map) *JobRow {
	j := l.known[jid]
	if j == nil {
		j = &JobRow{JID: jid, Fun: text(m.Value("fun")), Tgt: text(m.Value("tgt")), TgtType: str(m, "tgt_type"), User: str(m, "user"), Minions: -1}
		l.known[jid] = j
	}
	return j
}

// stored reads the newest jobs of the job store.
func (l *jobList) stored(ctx context.Context) error {
	var loads *payload.Map
	var err error
	if l.c.Master != nil && l.c.Master.Here() {
		loads, err = ask(ctx, l.c, control.GetJobLoads{})
	} else {
		var got any
		if got, err = l.c.call(ctx, l.who, payload.M("client", "runner", "fun", "jobs.list_jobs")); err == nil {
			loads, _ = got.(*payload.Map)
		}
	}
	if err != nil || loads == nil {
		return err
	}
	for k, v := range loads.All() {
		jid, _ := k.(string)
		m, ok := v.(*payload.Map)
		if !ok || l.known[jid] != nil {
			continue
		}
		j := &JobRow{JID: jid, State: stateDone, Minions: -1}
		j.Fun, j.Tgt, j.TgtType, j.User = first(m, "Function", "fun"), first(m, "Target", "tgt"), first(m, "Target-type", "tgt_type"), first(m, "User", "user")
		if list := m.List("minions"); list != nil {
			j.Minions = int64(len(list))
		} else if list := m.List("Minions"); list != nil {
			j.Minions = int64(len(list))
		}
		if !l.all && j.User != l.who.User {
			continue
		}
		if j.Minions >= 0 {
			j.Returned = -1
		}
		l.known[jid] = j
	}
	return nil
}

// trim forgets the oldest jobs beyond the most that are shown.
func (l *jobList) trim() {
	if len(l.known) <= maxJobs {
		return
	}
	jids := make([]string, 0, len(l.known))
	for jid := range l.known {
		jids = append(jids, jid)
	}
	slices.Sort(jids)
	for _, jid := range jids[:len(jids)-maxJobs] {
		delete(l.known, jid)
	}
}

// text is a value in a line.
func text(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return strings.ToValidUTF8(x, "�")
	case []any:
		return strings.Join(payload.Texts(x), ",")
	}
	return outputters.JSON(v)
}

// first is the field of the one or the other name.
func first(m *payload.Map, names ...string) string {
	for _, name := range names {
		if v, ok := m.Get(name); ok {
			return text(v)
		}
	}
	return ""
}
