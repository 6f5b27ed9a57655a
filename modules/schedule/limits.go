package schedule

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"brine/modules/schedule/dates"
	"brine/wire/payload"
	"brine/wire/python"
)

// explicitFormat is the format of times that are skipped or added.
const explicitFormat = "%Y-%m-%dT%H:%M:%S"

// limits asks the options that keep a job from being run although it is due.
//
// Unlike Salt: all of them must agree. There the last one wins: a job with until is run whatever its range says.
func (t *turn) limits() error {
	if !t.job.Has("skip_during_range") && python.Truth(t.s.skipRange) {
		t.job.Set("skip_during_range", t.s.skipRange)
	}
	for _, limit := range []struct {
		option string
		there  bool
		ask    func() error
	}{
		{"range", t.job.Has("range"), t.inRange},
		{"skip_during_range", t.truthy("skip_during_range"), t.skipDuringRange},
		{"skip_explicit", t.job.Has("skip_explicit"), t.skipExplicit},
		{"until", t.job.Has("until"), t.until},
		{"after", t.job.Has("after"), t.afterDate},
	} {
		if !limit.there {
			continue
		}
		err := limit.ask()
		t.job.Set("run", t.run && err == nil)
		if err != nil || !t.run {
			return err
		}
	}
	return nil
}

// instead runs the function that stands for jobs which are skipped; false when there is none.
func (t *turn) instead() bool {
	if !python.Truth(t.s.skipFun) {
		return false
	}
	t.fun, t.run = t.s.skipFun, true
	return true
}

// span reads start and end of a range.
func (t *turn) span(option, of, noMap string) (start, end time.Time, err error) {
	m, ok := t.job.Value(option).(*payload.Map)
	if !ok {
		return start, end, t.fault("%s", noMap)
	}
	for _, side := range []struct {
		name string
		to   *time.Time
	}{{"start", &start}, {"end", &end}} {
		if !m.Has(side.name) {
			return start, end, errors.New(python.Repr(side.name))
		}
		*side.to, err = t.date(m.Value(side.name))
		if errors.Is(err, dates.ErrUnread) {
			return start, end, t.fault("Invalid date string for %s%s. Ignoring job %s.", side.name, of, t.name)
		}
		if err != nil {
			return start, end, err
		}
	}
	return start, end, nil
}

// inRange runs a job only inside of a range, or only outside of it.
func (t *turn) inRange() error {
	start, end, err := t.span("range", "", fmt.Sprintf("schedule.handle_func: Invalid, range must be specified as a "+
		"dictionary.Ignoring job %s.", t.name))
	if err != nil {
		return err
	}
	if !end.After(start) {
		return t.wrongWay()
	}
	invert := python.Truth(t.job.Value("range").(*payload.Map).Value("invert"))
	switch {
	case invert && (!t.now.After(start) || !t.now.Before(end)):
	case invert:
		t.job.Set("_skip_reason", "in_skip_range")
		t.run = false
	case !t.now.Before(start) && !t.now.After(end):
	case !t.instead():
		t.job.Set("_skip_reason", "not_in_range")
		t.run = false
	}
	return nil
}

func (t *turn) wrongWay() error {
	return t.fault("schedule.handle_func: Invalid range, end must be larger than start. Ignoring job %s.", t.name)
}

// skipDuringRange does not run a job inside of a range.
func (t *turn) skipDuringRange() error {
	start, end, err := t.span("skip_during_range", " in skip_during_range",
		fmt.Sprintf("schedule.handle_func: Invalid, range must be specified as a dictionary. Ignoring job %s.", t.name))
	if err != nil {
		return err
	}
	if t.truthy("run_after_skip_range") {
		t.runAt(end.Add(t.opt.Loop))
	}
	if !end.After(start) {
		return t.wrongWay()
	}
	if !t.now.Before(start) && !t.now.After(end) && !t.instead() {
		t.skip("in_skip_range")
	}
	return nil
}

// runAt adds a time at which the job is run besides.
func (t *turn) runAt(at time.Time) {
	when := dates.Format(at, explicitFormat)
	list := t.job.List("run_explicit")
	for _, v := range list {
		if m, ok := v.(*payload.Map); ok && m.Str("time") == when {
			return
		}
	}
	t.job.Set("run_explicit", append(list[:len(list):len(list)], payload.M("time", when, "time_fmt", explicitFormat)))
}

// explicit reads a list of times.
func (t *turn) explicit(option string) ([]time.Time, error) {
	var out []time.Time
	for _, v := range t.job.List(option) {
		at := TimeOf(v)
		if m, ok := v.(*payload.Map); ok {
			format := m.Str("time_fmt")
			var err error
			if at, err = dates.Scan(m.Str("time"), format); err != nil {
				return nil, fmt.Errorf("time data %s does not match format %s", python.Repr(m.Str("time")),
					python.Repr(format))
			}
		}
		if at.IsZero() {
			return nil, fmt.Errorf("%s is no time", python.Repr(v))
		}
		out = append(out, at)
	}
	return out, nil
}

// runExplicit runs a job at times that were added.
func (t *turn) runExplicit() error {
	times, err := t.explicit("run_explicit")
	if err != nil {
		return err
	}
	for len(times) > 1 && times[0].Before(t.now.Add(-t.loop)) {
		times = times[1:]
	}
	t.job.Set("run", false)
	if len(times) > 0 && !t.now.Before(times[0]) && t.now.Before(times[0].Add(t.loop)) && !t.ranAt(times[0]) {
		t.run = true
		t.job.Set("run", true)
		t.set("_next_fire_time", times[0])
	}
	return nil
}

// skipExplicit does not run a job at times that are to be skipped.
//
// Unlike Salt: a time to be skipped does not keep the job from being run before it. There it does, for as long as the
// time lies ahead.
func (t *turn) skipExplicit() error {
	times, err := t.explicit("skip_explicit")
	if err != nil {
		return err
	}
	for _, at := range times {
		if !t.now.Before(at) && !t.now.After(at.Add(t.loop)) {
			if !t.instead() {
				t.skip("skip_explicit")
			}
			return nil
		}
	}
	return nil
}

// until runs a job only before a date.
func (t *turn) until() error {
	at, err := t.dateOf("until")
	if err != nil {
		return err
	}
	if !at.After(t.now) {
		t.say(slog.LevelDebug, "Until time has passed skipping job: %s.", t.name)
		t.skip("until_passed")
	}
	return nil
}

// afterDate runs a job only after a date.
func (t *turn) afterDate() error {
	at, err := t.dateOf("after")
	if err != nil {
		return err
	}
	if !at.Before(t.now) {
		t.say(slog.LevelDebug, "After time has not passed skipping job: %s.", t.name)
		t.skip("after_not_passed")
	}
	return nil
}

// dateOf reads an option that is a free text.
func (t *turn) dateOf(option string) (time.Time, error) {
	at, err := t.date(t.job.Value(option))
	if errors.Is(err, dates.ErrUnread) {
		err = fmt.Errorf("Unknown string format: %s", text(t.job.Value(option)))
	}
	return at, err
}
