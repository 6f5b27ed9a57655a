package schedule

import (
	"slices"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// sayAgain is the time after which a line that has not changed is logged once more.
const sayAgain = time.Hour

// Plan is the schedule of a daemon at work, with all that is noted of it. It outlives the Scheduler, and the one that
// lives is the only one to touch it; Ongoing alone may be used by any goroutine.
type Plan struct {
	State   State
	Ongoing *Ongoing

	jid  time.Time
	said map[Message]time.Time
}

// NewPlan is the plan at the start of the process, with the jobs of the configuration.
func NewPlan(configured *payload.Map) *Plan {
	return &Plan{State: New(configured, nil), Ongoing: NewOngoing(), said: map[Message]time.Time{}}
}

// Look decides what is to be run: wall is what a clock on the wall shows, now the same moment by the clock of the
// daemon. What was decided is not decided again, whatever becomes of the runs. The messages are those that are new:
// Salt says each second what is wrong with a job.
func (p *Plan) Look(wall, now time.Time, opt Options) ([]Run, []Message) {
	state, runs, messages := p.State.Next(wall, opt)
	p.State = state
	return runs, p.fresh(messages, now)
}

func (p *Plan) fresh(messages []Message, now time.Time) (fresh []Message) {
	still := map[Message]time.Time{}
	for _, msg := range messages {
		at, known := p.said[msg]
		if known && now.Sub(at) < sayAgain && now.Sub(at) >= 0 {
			still[msg] = at
			continue
		}
		still[msg] = now
		fresh = append(fresh, msg)
	}
	p.said = still
	return fresh
}

// NextJID is a new job id; unique: with the process id (unique_jid).
func (p *Plan) NextJID(now time.Time, unique bool) string {
	now = now.Truncate(time.Microsecond)
	if !now.After(p.jid) && p.jid.Sub(now) < time.Second {
		now = p.jid.Add(time.Microsecond)
	}
	p.jid = now
	return payload.NewUniqueJID(now, unique)
}

// Begin counts a run among those that go on, if its job wants that, until the function that it gives is called. Any
// goroutine may call that, once or more often.
func (p *Plan) Begin(run Run) (end func()) {
	if include, ok := run.Job.Get("jid_include"); !ok || python.Truth(include) {
		p.Ongoing.Begin(run.Name, run.JID)
	}
	ongoing, name, jid := p.Ongoing, run.Name, run.JID
	return func() { ongoing.End(name, jid) }
}

// Args are the arguments of a run: those by place, and the keywords, nil without any. Given is both as a return shows
// them.
func (r Run) Args() (list []any, kw *payload.Map, given []any) {
	list = slices.Clone(r.Job.List("args"))
	given = append([]any{}, list...)
	if kw, _ = r.Job.Value("kwargs").(*payload.Map); kw != nil {
		given = append(given, kw)
	}
	return list, kw, given
}

// Metadata is that of a run with the times that Salt adds; nil without any. ok is false when the job has something else
// than a map. The last two digits of _TT are the month, as in Salt.
func (r Run) Metadata(now time.Time) (meta *payload.Map, ok bool) {
	v, has := r.Job.Get("metadata")
	if !has {
		return nil, true
	}
	given, ok := v.(*payload.Map)
	if !ok {
		return nil, false
	}
	local := now.Local()
	return given.Clone().Set("_TOS", local.Format("-0700")).Set("_TS", local.Format(time.ANSIC)).Set("_TT",
		now.UTC().Format("2006 January 02 Mon 15 01")), true
}

// NoMetadata is the line about a job whose metadata are no map.
const NoMetadata = "schedule: The metadata parameter must be specified as a dictionary.  Ignoring."

// Returners are those that get the return of a run: its own, then those for all jobs (schedule_returner), each once.
func (r Run) Returners(all []string) (names []string) {
	for _, name := range slices.Concat(loader.StringList(r.Job.Value("returner")), all) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// ReturnerOptions puts what a job says about its returners into a return, or into a load that leads to one.
func (r Run) ReturnerOptions(into *payload.Map) {
	for _, names := range [][2]string{{"return_config", "ret_config"}, {"return_kwargs", "ret_kwargs"}} {
		if v, ok := r.Job.Get(names[0]); ok {
			into.Set(names[1], v)
		}
	}
}
