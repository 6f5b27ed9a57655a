package console

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"brine/actors/netapi/aside"
	"brine/modules/execution/brine"
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
	State    string `json:"state" doc:"running, queued (wherever it has not returned), silent (it does neither there), done, or stored: it is over a day old and not all have returned, or what it does is not known"`
	Minions  int64  `json:"minions" doc:"-1 when that is not known"`
	Returned int64  `json:"returned" doc:"-1 when that is not known: the job is stored by a master of Salt, or its returns are not stored"`
	Queued   int64  `json:"queued" doc:"minions where it waits behind others, or for its turn in a batch"`
	began    time.Time
}

const (
	maxJobs       = 200 // number of newest jobs on a page
	lookBack      = 60  // minutes
	lookBackFirst = 24 * lookBack
	askJobsEvery  = time.Second
	stateRunning  = "running"
	stateQueued   = "queued"
	stateSilent   = "silent"
	stateDone     = "done"
	stateStored   = "stored"
	runnerTgtType = "runner"
)

// jobList is a stream's list of jobs. It combines the job store, events of the bus, and the jobs that wait for
// returns.
type jobList struct {
	c     *console
	who   Session
	all   bool // jobs of all users
	known map[string]*JobRow
	asked time.Time
	whole bool               // the job store has been read
	first bool               // the waiting jobs of a whole day have been read
	doubt chan []outstanding // jobs to ask about
}

// showJobs streams the table jobs.
func (c *console) showJobs(ctx context.Context, q request, o *output) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &jobList{c: c, who: q.who, all: may(q.who.Rules, rightJobs), known: map[string]*JobRow{},
		doubt: make(chan []outstanding, 1)}
	aside.Go(c.Logger, "holds", func(error) {}, func() { c.inquire(ctx, l.doubt) })
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
			if l.shows(j) {
				now[jid] = *j
			}
		}
		return o.rows(d, now, nil)
	})
}

// shows tells whether the page may show a job.
func (l *jobList) shows(j *JobRow) bool { return l.all || l.c.ownJob(l.who, j.User) }

// questions are the functions of jobs that only ask about other jobs or minions. Tools and this page run them
// repeatedly, so the list omits them, as brine jobs does.
func questions() []string {
	return []string{"saltutil.find_job", "saltutil.running", "saltutil.is_running", brine.Actors, brine.Jobs,
		brine.Job,
		"runner.jobs.list_job", "runner.jobs.list_jobs", "wheel.key.list_all"} // stored by Salt masters, too
}

func isQuestion(m *payload.Map) bool {
	return slices.Contains(questions(), first(m, "fun", "Function"))
}

// hear handles an event of the bus: a new job, or a return.
func (l *jobList) hear(h heard) {
	part := strings.Split(h.tag, "/") // salt/job/JID/new, salt/job/JID/ret/ID
	if len(part) < 4 || !payload.IsJID(part[2]) || h.data == nil {
		return
	}
	switch part[3] {
	case "new":
		if isQuestion(h.data) {
			return
		}
		minions := int64(len(h.data.List("minions")))
		l.known[part[2]] = &JobRow{JID: part[2], Fun: text(h.data.Value("fun")), Tgt: text(h.data.Value("tgt")),
			TgtType: str(h.data, "tgt_type"), User: str(h.data, "user"), State: stateRunning, Minions: minions,
			began: time.Now()}
	case "ret":
		if j := l.known[part[2]]; j != nil && j.Returned >= 0 && j.Returned < j.Minions {
			if j.Returned++; j.Returned == j.Minions {
				j.State = stateDone
			}
		}
	}
}

// ask asks which jobs wait for returns. The first time it also reads the job store.
func (l *jobList) ask(ctx context.Context) error {
	l.asked = time.Now()
	here := l.c.Master != nil && l.c.Master.Here()
	if !l.whole && (l.all || here) { // a runner needs a rule
		if err := l.stored(ctx); err != nil {
			return err
		}
		l.whole = true
	}
	if !here {
		return nil // a Salt master is not asked each second; the events of the bus must do
	}
	minutes := int64(lookBack)
	if !l.first {
		minutes = lookBackFirst
	}
	got, err := ask(ctx, l.c, control.GetJobList{Minutes: minutes})
	if err != nil {
		return err
	}
	l.first = true
	l.take(got, time.Now().Add(-time.Duration(minutes)*time.Minute))
	return nil
}

// take adopts the jobs since a moment that wait for returns, and the active runners.
func (l *jobList) take(got *payload.Map, since time.Time) {
	open := map[string]bool{}
	var doubt []outstanding
	for _, v := range got.List("jobs") { // newest first
		m, ok := v.(*payload.Map)
		if !ok || isQuestion(m) {
			continue
		}
		jid := str(m, "jid")
		open[jid] = true
		j, h := l.row(jid, m), l.c.holds.get(jid)
		j.State, j.Minions, j.Returned, j.Queued = h.state(), whole(m, "minions"), whole(m, "returned"), h.queued
		if len(doubt) < maxHolds && l.shows(j) && time.Since(j.began) > holdsAfter {
			ids := m.List("waiting_for")
			doubt = append(doubt, outstanding{jid, ids, whole(m, "outstanding") - int64(len(ids))})
		}
	}
	for _, v := range got.List("runners") {
		if m, ok := v.(*payload.Map); ok {
			open[str(m, "jid")] = true
			j := l.row(str(m, "jid"), m)
			j.State, j.TgtType, j.Minions = stateRunning, runnerTgtType, -1
		}
	}
	l.ended(open, since, got.Bool("whole"))
	if len(doubt) > 0 {
		select {
		case l.doubt <- doubt:
		default: // enough questions wait already
		}
	}
}

// ended marks the jobs that do not wait for returns any more. Jobs before since stay as they are. If the list
// is incomplete, all jobs but runners stay as they are.
func (l *jobList) ended(open map[string]bool, since time.Time, all bool) {
	for jid, j := range l.known {
		runner := j.TgtType == runnerTgtType // the list of runners is always complete
		if j.State == stateDone || open[jid] || time.Since(j.began) < holdsAfter {
			// a new job may not be in the store yet
			continue
		}
		if !runner && (!all || j.Returned < 0 || j.began.Before(since)) {
			continue
		}
		if j.State, j.Queued = stateDone, 0; j.Minions >= 0 {
			j.Returned = j.Minions
		}
	}
}

// row finds or makes the row of a job.
func (l *jobList) row(jid string, m *payload.Map) *JobRow {
	j := l.known[jid]
	if j == nil {
		j = &JobRow{JID: jid, Fun: text(m.Value("fun")), Tgt: text(m.Value("tgt")), TgtType: str(m, "tgt_type"),
			User: str(m, "user"), Minions: -1,
			began: beganAt(jid)}
		l.known[jid] = j
	}
	return j
}

// stored reads the newest jobs of the job store.
func (l *jobList) stored(ctx context.Context) error {
	if l.c.Master == nil || !l.c.Master.Here() {
		return l.storedBySalt(ctx)
	}
	q := control.GetNewestJobs{Count: maxJobs, Skip: questions()}
	if !l.all {
		if !l.c.ownJob(l.who, l.who.User) {
			return nil
		}
		q.User = l.who.User
	}
	got, err := ask(ctx, l.c, q)
	if err != nil {
		return err
	}
	for _, v := range got.List("jobs") {
		m, ok := v.(*payload.Map)
		if !ok || l.known[str(m, "jid")] != nil {
			continue
		}
		j := l.row(str(m, "jid"), m)
		j.State, j.Minions, j.Returned = stateStored, whole(m, "minions"), whole(m, "returned")
		if whole(m, "outstanding") == 0 && j.Returned >= 0 {
			j.State = stateDone // the master's next answer corrects this for waiting jobs
		}
	}
	return nil
}

// storedBySalt reads the jobs of a Salt master. It does not know the numbers of minions and returns.
func (l *jobList) storedBySalt(ctx context.Context) error {
	got, err := l.c.call(ctx, l.who, payload.M("client", "runner", "fun", "jobs.list_jobs"))
	loads, ok := got.(*payload.Map)
	if err != nil || !ok {
		return err
	}
	for k, v := range loads.All() {
		jid, _ := k.(string)
		m, ok := v.(*payload.Map)
		if !ok || l.known[jid] != nil || isQuestion(m) {
			continue
		}
		j := &JobRow{JID: jid, State: stateStored, Minions: -1, Returned: -1, began: beganAt(jid)}
		j.Fun, j.Tgt, j.TgtType, j.User = first(m, "Function", "fun"), first(m, "Target", "tgt"),
			first(m, "Target-type", "tgt_type"), first(m, "User", "user")
		if l.shows(j) {
			l.known[jid] = j
		}
	}
	return nil
}

// beganAt is the time in a job's id. An id without a time gives a time long ago.
func beganAt(jid string) time.Time {
	at, _ := payload.JIDTime(jid)
	return at
}

// trim removes the oldest jobs if there are too many. Jobs without outstanding returns go first.
func (l *jobList) trim() {
	if len(l.known) <= maxJobs {
		return
	}
	over := func(j *JobRow) bool { return j.State == stateDone || j.State == stateStored }
	list := slices.SortedFunc(maps.Values(l.known), func(a, b *JobRow) int {
		if over(a) != over(b) {
			if over(a) {
				return -1
			}
			return 1
		}
		return strings.Compare(a.JID, b.JID)
	})
	for _, j := range list[:len(list)-maxJobs] {
		delete(l.known, j.JID)
	}
}

// text writes a value in one line.
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

// first is the first of the named fields that is not empty.
func first(m *payload.Map, names ...string) string {
	for _, name := range names {
		if v, ok := m.Get(name); ok {
			return text(v)
		}
	}
	return ""
}
