package schedule

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/modules/schedule/dates"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// Effects are what a request to the schedule leads to besides a new state.
type Effects struct {
	Replies  []Reply // events for whoever has asked, in their order
	Persist  bool    // the part in the options is to be written down
	Changed  bool    // the schedule is to be looked at: it may be another one
	Run      *Run    // to be run now
	Messages []Message
}

// Reply is an event on the bus of the daemon.
type Reply struct {
	What string // the middle of its tag: /salt/minion/minion_schedule_WHAT_complete
	Data *payload.Map
}

// request is one that is being carried out, on a state of its own.
type request struct {
	s       *State
	data    *payload.Map
	name    string
	persist bool
	now     time.Time
	opt     *Options
	out     Effects
}

func (r *request) say(level slog.Level, format string, a ...any) {
	r.out.Messages = append(r.out.Messages, Message{Job: r.name, Level: level, Text: fmt.Sprintf(format, a...)})
}

// reply answers with the whole schedule, as it is when the request is done.
func (r *request) reply(what string) {
	r.out.Replies = append(r.out.Replies, Reply{What: what, Data: payload.M("complete", true, "schedule", r.s.Jobs())})
}

// Manage carries out what an event manage_schedule asks for: func, name, schedule, where, persist and what belongs to
// the function. A request that makes no sense is logged, and nothing answers it, as in Salt. Answers to salt/minion.py,
// manage_schedule.
func (s State) Manage(data *payload.Map, now time.Time, opt Options) (State, Effects) {
	s.options, s.pillar = s.options.Clone(), s.pillar.Clone()
	r := &request{s: &s, data: data, name: loader.Text(data.Value("name")),
		persist: python.Truth(data.Value("persist")), now: now, opt: &opt}
	do, ok := map[string]func(*request){
		"add": (*request).add, "delete": (*request).delete, "modify": (*request).modify, "enable": (*request).enableAll,
		"disable": (*request).disableAll, "enable_job": (*request).enableJob, "disable_job": (*request).disableJob,
		"run_job": (*request).runJob, "postpone_job": (*request).postpone, "skip_job": (*request).skip,
		"reload": (*request).reload, "list": (*request).list, "save_schedule": (*request).save,
		"get_next_fire_time": (*request).nextFireTime, "job_status": (*request).status,
	}[data.Str("func")]
	if !ok {
		r.say(slog.LevelError, "Function %q is unavailable in salt.utils.scheduler", loader.Text(data.Value("func")))
		return s, r.out
	}
	do(r)
	r.out.Changed = !asks[data.Str("func")]
	return s, r.out
}

// asks are the functions that change no job.
var asks = map[string]bool{"list": true, "save_schedule": true, "get_next_fire_time": true, "job_status": true,
	"run_job": true}

// foreign tells whether a job is only in the pillar, which no request changes, and says so.
func (r *request) foreign(what string) bool {
	if r.s.options.Has(r.name) || !r.s.pillar.Has(r.name) {
		return false
	}
	r.say(slog.LevelWarn, "Cannot %s job %s, it's in the pillar!", what, r.name)
	return true
}

// change gives a job of the options a map of its own to be changed; false when there is none.
func (r *request) change() (*payload.Map, bool) {
	job, ok := r.s.options.Value(r.name).(*payload.Map)
	if !ok {
		r.foreign("modify")
		return nil, false
	}
	job = job.Clone()
	r.s.options.Set(r.name, job)
	return job, true
}

func (r *request) add() {
	jobs := r.data.Map("schedule")
	if jobs.Len() != 1 {
		r.say(slog.LevelError, "You can only schedule one new job at a time.")
		return
	}
	for k, v := range jobs.All() {
		r.name = loader.Text(k)
		job, ok := v.(*payload.Map)
		if !ok {
			r.say(slog.LevelError, "Scheduled jobs have to be of type dict.")
			return
		}
		if job = job.Clone(); !job.Has("enabled") {
			job.Set("enabled", true)
		}
		switch {
		case r.s.pillar.Has(r.name):
			r.say(slog.LevelWarn, "Cannot update job %s, it's in the pillar!", r.name)
			r.reply("add")
			r.out.Persist = r.persist
			return
		case r.s.options.Has(r.name):
			r.say(slog.LevelInfo, "Updating job settings for scheduled job: %s", r.name)
		default:
			r.say(slog.LevelInfo, "Added new job %s to scheduler", r.name)
		}
		r.s.options.Set(r.name, job)
	}
	r.reply("add")
	r.out.Persist = r.persist
}

func (r *request) delete() {
	if !r.foreign("delete") {
		r.s.options.Delete(r.name)
	}
	r.reply("delete")
	r.out.Persist = r.persist
}

func (r *request) modify() {
	switch {
	case r.s.options.Has(r.name):
		r.delete()
	case r.foreign("modify"):
		return
	}
	r.s.options.Set(r.name, r.data.Value("schedule"))
	r.out.Persist = r.persist
}

func (r *request) enableAll()  { r.switchAll(true, "enabled") }
func (r *request) disableAll() { r.switchAll(false, "disabled") }

func (r *request) switchAll(on bool, what string) {
	r.s.options.Set("enabled", on)
	r.reply(what)
	r.out.Persist = r.persist
}

func (r *request) enableJob()  { r.switchJob(true, "Enabling", "enabled_job") }
func (r *request) disableJob() { r.switchJob(false, "Disabling", "disabled_job") }

func (r *request) switchJob(on bool, doing, what string) {
	if job, ok := r.change(); ok {
		job.Set("enabled", on)
		r.say(slog.LevelInfo, "%s job %s in scheduler", doing, r.name)
	}
	r.reply(what)
	r.out.Persist = r.persist
}

// runJob runs a job now, whatever its times say, unless too many of its runs are going on.
func (r *request) runJob() {
	job, ok := r.s.Jobs().Value(r.name).(*payload.Map)
	if !ok {
		r.say(slog.LevelInfo, "Invalid function: None in scheduled job %s.", r.name)
		return // Unlike Salt: it runs a job without a function, which fails.
	}
	t := &turn{s: r.s, opt: r.opt, now: r.now, key: r.name, job: job.Clone()}
	t.describe()
	r.out.Messages = append(r.out.Messages, t.messages...)
	if !t.job.Has("maxrunning") {
		t.job.Set("maxrunning", int64(1))
	}
	noted := job.Clone().Set("name", t.job.Value("name"))
	if !noted.Has("run") {
		noted.Set("run", true)
	}
	if tooMany(t.job, r.opt.Running) {
		noted.Set("_skip_reason", "maxrunning").Set("_skipped", true).Set("_skipped_time", r.now).Set("run", false)
	} else {
		// Unlike Salt: a job whose last decision was not to run it is run all the same.
		r.say(slog.LevelInfo, "Running Job: %s", r.name)
		fun, _ := t.fun.(string)
		r.out.Run = &Run{Key: r.name, Name: t.name, Fun: fun, JID: r.opt.JID(), Job: t.job, Dry: t.truthy("dry_run")}
	}
	r.s.with(r.name, noted)
}

func (r *request) postpone() {
	if job, ok := r.change(); ok {
		r.addTime(job, "skip_explicit", "time")
		r.addTime(job, "run_explicit", "new_time")
	}
	r.reply("postpone_job")
}

func (r *request) skip() {
	if job, ok := r.change(); ok {
		r.addTime(job, "skip_explicit", "time")
	}
	r.reply("skip_job")
}

func (r *request) addTime(job *payload.Map, to, from string) {
	format := explicitFormat
	if v, ok := r.data.Get("time_fmt"); ok {
		format = loader.Text(v)
	}
	list := job.List(to)
	job.Set(to, append(list[:len(list):len(list)], payload.M("time", r.data.Value(from), "time_fmt", format)))
}

// reload lays a schedule over that of the options.
func (r *request) reload() {
	jobs := r.data.Map("schedule")
	if inner, ok := jobs.Value("schedule").(*payload.Map); ok {
		jobs = inner
	}
	r.s.options.Update(jobs)
}

func (r *request) list() {
	jobs := r.s.Jobs()
	switch r.data.Str("where") {
	case "pillar":
		jobs = r.s.pillar
	case "opts":
		jobs = r.s.options
	}
	r.out.Replies = append(r.out.Replies, Reply{What: "list", Data: payload.M("complete", true, "schedule", jobs)})
}

func (r *request) save() {
	r.out.Persist = true
	r.out.Replies = append(r.out.Replies, Reply{What: Saved, Data: payload.M("complete", true)})
}

// Saved is what a reply tells about whose tag nothing else ends.
const Saved = "saved"

func (r *request) nextFireTime() {
	var next any
	job, _ := r.s.Jobs().Value(r.name).(*payload.Map)
	if at := TimeOf(job.Value("_next_fire_time")); !at.IsZero() {
		next = dates.Format(at, explicitFormat)
	}
	r.out.Replies = append(r.out.Replies, Reply{What: "next_fire_time", Data: payload.M("complete", true,
		"next_fire_time", next)})
}

func (r *request) status() {
	if !python.Truth(r.data.Value("fire_event")) {
		return
	}
	data, ok := r.s.Jobs().Get(r.name)
	if !ok {
		data = payload.NewMap(0)
	}
	r.out.Replies = append(r.out.Replies, Reply{What: "job_status", Data: payload.M("complete", true, "data", data)})
}

// WithPillar is the state with what a new pillar says. A job that it says as before keeps its notes.
func (s State) WithPillar(jobs *payload.Map) State {
	fresh := payload.NewMap(jobs.Len())
	for k, v := range jobs.All() {
		old, isOld := s.pillar.Value(k).(*payload.Map)
		job, isJob := v.(*payload.Map)
		if isOld && isJob && says(old, job) {
			v = old
		}
		fresh.Set(k, v)
	}
	s.pillar = fresh
	return s
}

// says tells whether a job with notes says all that another one says.
func says(noted, job *payload.Map) bool {
	for k, v := range job.All() {
		have, ok := noted.Get(k)
		if !ok || !payload.M("v", have).Equal(payload.M("v", v)) {
			return false
		}
	}
	return true
}

// Saveable is the part of the schedule in the options as it is written down: without the notes.
func (s State) Saveable() *payload.Map {
	out := payload.NewMap(s.options.Len())
	for k, v := range s.options.All() {
		job, ok := v.(*payload.Map)
		if !ok {
			out.Set(k, v)
			continue
		}
		plain := payload.NewMap(job.Len())
		for option, v := range job.All() {
			if name, ok := option.(string); !ok || !strings.HasPrefix(name, "_") {
				plain.Set(option, dicts.Clone(v))
			}
		}
		out.Set(k, plain)
	}
	return out
}
