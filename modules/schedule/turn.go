package schedule

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// errIgnored ends the decision about a job: the reason is noted in the job, and logged.
var errIgnored = errors.New("schedule: the job is ignored")

// turn is the decision about one job.
type turn struct {
	s        *State
	opt      *Options
	now      time.Time
	loop     time.Duration
	key      string
	name     string
	job      *payload.Map // a copy of our own
	fun      any
	run      bool
	messages []Message
}

func (t *turn) say(level slog.Level, format string, a ...any) {
	t.messages = append(t.messages, Message{Job: t.key, Level: level, Text: fmt.Sprintf(format, a...)})
}

// fault notes and logs what is wrong with a job.
func (t *turn) fault(format string, a ...any) error {
	msg := fmt.Sprintf(format, a...)
	t.job.Set("_error", msg)
	t.say(slog.LevelError, "%s", msg)
	return errIgnored
}

// skip notes why a job that is due is not run.
func (t *turn) skip(why string) {
	t.job.Set("_skip_reason", why).Set("_skipped_time", t.now).Set("_skipped", true)
	t.run = false
}

func text(v any) string { return python.Str(v) }

func typeName(v any) string { return python.Type(v) }

// time is a note of a job that is a time; the zero time when there is none.
func (t *turn) time(note string) time.Time { return TimeOf(t.job.Value(note)) }

// TimeOf is a time that a note holds; the zero time for anything else.
func TimeOf(v any) time.Time {
	switch at := v.(type) {
	case time.Time:
		return at
	case payload.Time:
		return at.Time
	}
	return time.Time{}
}

func (t *turn) set(note string, at time.Time) {
	if at.IsZero() {
		t.job.Set(note, nil)
	} else {
		t.job.Set(note, at)
	}
}

func (t *turn) truthy(option string) bool { return python.Truth(t.job.Value(option)) }

// decide tells whether the job is to be run, and changes its notes.
//
// Unlike Salt: an option that Salt's code stumbles over ends the decision about this job only, with the line that Salt
// has for it; in Salt no job is run then.
func (t *turn) decide() (Run, bool) {
	run, due, err := t.weigh()
	if err != nil && err != errIgnored {
		msg := fmt.Sprintf("Exception %v occurred in scheduled job", err)
		t.job.Set("_error", msg)
		t.say(slog.LevelError, "%s", msg)
	}
	return run, due && err == nil
}

func (t *turn) weigh() (Run, bool, error) {
	t.describe()
	if t.conflicts() {
		return Run{}, false, nil
	}
	ok, err := t.findTime()
	if err != nil || !ok {
		return Run{}, false, err
	}
	due, splayed, err := t.splay()
	if err != nil {
		return Run{}, false, err
	}
	t.isDue(due)
	if t.truthy("_run_on_start") {
		t.job.Set("_run_on_start", false)
		t.run = true
	} else if t.run {
		if err := t.limits(); err != nil {
			return Run{}, false, err
		}
	}
	if t.truthy("_continue") {
		t.run = false
	}
	if enabled, ok := t.job.Get("enabled"); !python.Truth(t.s.enabled) || ok && !python.Truth(enabled) {
		t.skip("disabled")
	}
	run, due2 := t.start(due, splayed)
	t.after()
	return run, due2, nil
}

// describe sets the name, the function and the notes that every job has.
func (t *turn) describe() {
	if !t.job.Has("name") {
		t.job.Set("name", t.key)
	}
	t.name = text(t.job.Value("name"))
	for _, option := range []string{"function", "func", "fun"} {
		if fun, ok := t.job.Get(option); ok {
			t.fun = fun
			break
		}
	}
	if fun, ok := t.fun.(string); !ok || t.opt.Known != nil && !t.opt.Known(fun) {
		t.say(slog.LevelInfo, "Invalid function: %s in scheduled job %s.", text(t.fun), t.name)
	}
	for _, note := range []string{"_next_fire_time", "_splay"} {
		if !t.job.Has(note) {
			t.job.Set(note, nil)
		}
	}
}

// conflicts tells whether a job says in two ways when it is due.
func (t *turn) conflicts() bool {
	n := 0
	for _, option := range []string{"when", "cron", "once"} {
		if t.job.Has(option) {
			n++
		}
	}
	if n > 1 {
		t.say(slog.LevelError, `Unable to use "when", "cron", "once" options together. Ignoring.`)
	}
	return n > 1
}

func (t *turn) interval() bool {
	return t.job.Has("seconds") || t.job.Has("minutes") || t.job.Has("hours") || t.job.Has("days")
}

// findTime finds out when the job is due next; false when that is never, or a matter of another decision.
func (t *turn) findTime() (bool, error) {
	if !t.job.Has("_run_on_start") {
		start, ok := t.job.Get("run_on_start")
		if !ok {
			start = t.interval()
		}
		t.job.Set("_run_on_start", start)
	}
	if t.job.Has("run_explicit") {
		if err := t.runExplicit(); err != nil {
			return false, err
		}
	}
	var err error
	switch {
	case t.interval():
		err = t.byInterval()
	case t.job.Has("once"):
		err = t.byOnce()
	case t.job.Has("when"):
		err = t.byWhen()
	case t.job.Has("cron"):
		err = t.byCron()
	default:
		return false, nil
	}
	return err == nil && !t.truthy("_continue"), err
}

// splay puts a job off by a random time. It gives the seconds until the job is due, and the same as Salt shows them.
func (t *turn) splay() (float64, string, error) {
	next := t.time("_next_fire_time")
	whole := math.Trunc(chop(next).Sub(chop(t.now)).Seconds())
	seconds, shown := whole, strconv.FormatInt(int64(math.Abs(whole)), 10)
	if !t.job.Has("splay") {
		t.job.Set("splay", t.s.splay)
	}
	if !t.truthy("splay") {
		return seconds, shown, nil
	}
	if t.time("_splay").IsZero() {
		by, err := t.random(t.job.Value("splay"))
		if err != nil {
			return 0, "", err
		}
		if later := next.Add(by); t.now.Before(later) {
			t.set("_splay", later)
			if t.job.Has("when") {
				t.job.Set("_run", true)
			}
		} else {
			t.run = true
		}
	}
	if at := t.time("_splay"); !at.IsZero() {
		seconds = at.Sub(t.now).Seconds()
		shown = python.Float(math.Abs(seconds))
		if t.job.Has("when") {
			t.set("_next_fire_time", at)
		}
	}
	return seconds, shown, nil
}

func chop(at time.Time) time.Time { return at.Truncate(time.Second) }

// random is the time that a splay option says.
func (t *turn) random(option any) (time.Duration, error) {
	low, high := int64(1), int64(0)
	var err error
	if m, ok := option.(*payload.Map); ok {
		if low, err = loader.ToInt(m.Value("start")); err == nil {
			high, err = loader.ToInt(m.Value("end"))
		}
		if err == nil && high < low {
			t.say(slog.LevelError,
				"schedule.handle_func: Invalid Splay, end must be larger than start. Ignoring splay.")
			// Unlike Salt: it says so, and stumbles over it then.
			return 0, nil
		}
	} else {
		high, err = loader.ToInt(option)
	}
	if err != nil {
		return 0, err
	}
	if high < low || low < 0 || high > maxSeconds {
		return 0, fmt.Errorf("splay must be from 1 to %d seconds, not %s", int64(maxSeconds), text(option))
	}
	return time.Duration(t.opt.Random(low, high)) * time.Second, nil
}

// isDue says whether the time of the job has come.
func (t *turn) isDue(seconds float64) {
	next := t.time("_next_fire_time")
	near := !t.now.Before(next) && !t.now.After(next.Add(t.loop))
	switch {
	case t.job.Has("_seconds"):
		t.run = t.run || seconds <= 0
	case t.job.Has("when") && t.truthy("_run"):
		if near {
			t.job.Set("_run", false)
			t.run = true
		}
	case t.job.Has("cron"):
		if seconds <= 0 {
			t.job.Set("_next_fire_time", nil)
			t.run = true
		}
	case t.job.Has("once"):
		t.run = t.run || near && !t.ranAt(next)
	default:
		t.run = t.run || seconds == 0 && !t.ranAt(next)
	}
}

// ranAt tells whether a job was run for this time.
//
// Unlike Salt: there a job is run twice when the schedule is looked at twice within a loop interval, or the clock shows
// an hour twice.
func (t *turn) ranAt(at time.Time) bool {
	last := t.time("_last_run")
	return !last.Before(at) && !last.After(t.now.Add(t.loop))
}

// start makes the run of a job that is due, unless too many of its runs are going on.
func (t *turn) start(seconds float64, shown string) (Run, bool) {
	if !t.run {
		return Run{}, false
	}
	if include, ok := t.job.Get("jid_include"); !ok || python.Truth(include) {
		t.job.Set("jid_include", true)
		if !t.job.Has("maxrunning") {
			t.say(slog.LevelInfo, "schedule: maxrunning parameter was not specified for job %s, defaulting to 1.",
				t.name)
			t.job.Set("maxrunning", int64(1))
		}
	}
	t.job.Set("run", true)
	if tooMany(t.job, t.opt.Running) {
		t.skip("maxrunning")
		t.job.Set("run", false)
		return Run{}, false
	}
	missed := ""
	if seconds < 0 {
		missed = " (runtime missed by " + shown + " seconds)"
	}
	jid := t.opt.JID()
	t.say(slog.LevelInfo, "Running scheduled job: %s%s with jid %s", t.name, missed, jid)
	fun, _ := t.fun.(string)
	return Run{Key: t.key, Name: t.name, Fun: fun, JID: jid, Job: t.job.Clone(), Dry: t.truthy("dry_run")}, true
}

// tooMany tells whether as many runs of a job are going on as it may have.
func tooMany(job *payload.Map, running func(string) int) bool {
	if include, ok := job.Get("jid_include"); ok && !python.Truth(include) || running == nil {
		return false
	}
	now := running(text(job.Value("name")))
	most, _ := loader.ToInt(job.Value("maxrunning"))
	return now > 0 && int64(now) >= most
}

// after notes the run and when an interval ends next.
func (t *turn) after() {
	if t.run {
		t.job.Set("_last_run", t.now).Set("_splay", nil)
	}
	if !t.job.Has("_seconds") {
		return
	}
	seconds, _ := t.job.Int("_seconds")
	next := t.time("_next_fire_time")
	if skipped := t.truthy("_skipped"); skipped && !next.After(t.now) || !skipped && t.run {
		t.set("_next_fire_time", t.now.Add(time.Duration(seconds)*time.Second))
	}
}
