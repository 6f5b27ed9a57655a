package schedule

import (
	"errors"
	"slices"
	"time"

	"brine/modules/loader"
	"brine/modules/schedule/cron"
	"brine/modules/schedule/dates"
	"brine/wire/payload"
)

// maxSeconds bounds intervals: Python's dates end before.
const maxSeconds = 200 * 365 * 86400

// byInterval is for seconds, minutes, hours and days.
func (t *turn) byInterval() error {
	if !t.job.Has("_seconds") {
		total := int64(0)
		for _, unit := range []struct {
			option  string
			seconds int64
		}{{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86400}} {
			v, ok := t.job.Get(unit.option)
			if !ok {
				continue
			}
			n, err := loader.ToInt(v)
			if err != nil {
				return err
			}
			if n > maxSeconds || n < -maxSeconds {
				return errors.New("date value out of range")
			}
			total += n * unit.seconds
		}
		t.job.Set("_seconds", min(total, maxSeconds))
		if t.time("_next_fire_time").IsZero() {
			t.set("_next_fire_time", t.now.Add(time.Duration(min(total, maxSeconds))*time.Second))
		}
	}
	// Unlike Salt: after the clock was set back, a job waits for one interval, not until the clock shows what it showed
	// before.
	seconds, _ := t.job.Int("_seconds")
	if longest := t.now.Add(time.Duration(seconds) * time.Second); t.back() > 0 &&
		t.time("_next_fire_time").After(longest) {
		t.set("_next_fire_time", longest)
		t.job.Set("_splay", nil)
	}
	return nil
}

// back is by how much the clock was set back since the last decision.
func (t *turn) back() time.Duration { return t.s.last.Sub(t.now) }

// byOnce is for one date in a format.
func (t *turn) byOnce() error {
	next, splayed := t.time("_next_fire_time"), !t.time("_splay").IsZero()
	if !next.IsZero() && (next.Before(t.now.Add(-t.loop)) || next.After(t.now) && !splayed) {
		t.job.Set("_continue", true)
	}
	if !next.IsZero() || splayed {
		return nil
	}
	once := TimeOf(t.job.Value("once"))
	if once.IsZero() {
		format := "%Y-%m-%dT%H:%M:%S"
		if v, ok := t.job.Get("once_fmt"); ok {
			format = text(v)
		}
		given, isText := t.job.Value("once").(string)
		var err error
		if once, err = dates.Scan(given, format); err != nil || !isText {
			return t.fault("Date string could not be parsed: %s, %s. Ignoring job %s.", text(t.job.Value("once")),
				format, t.name)
		}
	}
	t.set("_next_fire_time", once)
	if once.Before(t.now.Add(-t.loop)) {
		t.job.Set("_continue", true)
	}
	return nil
}

// byWhen is for one or several free texts.
func (t *turn) byWhen() error {
	whens, err := t.whens()
	if err != nil {
		return err
	}
	if at := t.time("_splay"); !at.IsZero() {
		whens = append(whens, at)
	} else if next := t.time("_next_fire_time"); !next.IsZero() && next.Before(t.now.Add(-t.loop)) && t.truthy("_run") {
		// Unlike Salt: a time that was missed, by a suspended machine for one, is given up. There the job never runs
		// again.
		t.job.Set("_run", false)
	}
	slices.SortFunc(whens, time.Time.Compare)
	for len(whens) > 1 && whens[0].Before(t.now.Add(-t.loop)) {
		whens = whens[1:] // of those that were missed only the last one counts
	}
	if len(whens) == 0 {
		if !t.truthy("_run") {
			t.job.Set("_next_fire_time", nil).Set("_continue", true)
		}
		return nil
	}
	when, missed := whens[0], whens[0].Before(t.now.Add(-t.loop))
	if missed && !t.truthy("_run") && !t.run && t.time("_splay").IsZero() {
		t.job.Set("_next_fire_time", nil).Set("_continue", true)
		return nil
	}
	if !t.job.Has("_run") {
		t.job.Set("_run", !missed)
	}
	next := t.time("_next_fire_time")
	if next.IsZero() {
		next = when
		t.set("_next_fire_time", when)
	}
	// Unlike Salt: after the clock was set back, a time that has become the next one again is waited for.
	if next.Before(when) && !t.run && !t.truthy("_run") || t.back() > 0 && next.After(when) &&
		t.time("_splay").IsZero() {
		t.set("_next_fire_time", when)
		t.job.Set("_run", true)
	}
	return nil
}

// whens reads the texts of when. A text may be the name of one in the pillar or in the grains.
func (t *turn) whens() ([]time.Time, error) {
	list, ok := t.job.Value("when").([]any)
	if !ok {
		list = []any{t.job.Value("when")}
	}
	var out []time.Time
	for _, v := range list {
		given, err := t.named(v)
		if err != nil {
			return nil, err
		}
		at, err := t.date(given)
		if errors.Is(err, dates.ErrUnread) {
			return nil, t.fault("Invalid date string %s. Ignoring job %s.", text(v), t.name)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, at)
	}
	return out, nil
}

// named looks up a text in the whens of pillar and grains.
func (t *turn) named(v any) (any, error) {
	for _, from := range []struct {
		data *payload.Map
		what string
	}{{t.opt.Pillar, `Pillar item "whens"`}, {t.opt.Grains, `Grain "whens"`}} {
		whens := from.data.Value("whens")
		if list, ok := whens.([]any); ok && slices.Contains(list, v) {
			return nil, t.fault("%s must be a dict. Ignoring job %s.", from.what, t.name)
		}
		if m, ok := whens.(*payload.Map); ok && m.Has(v) {
			return m.Value(v), nil
		}
	}
	return v, nil
}

// date reads a free text, or takes a time as it is.
func (t *turn) date(v any) (time.Time, error) {
	if at := TimeOf(v); !at.IsZero() {
		return at, nil
	}
	given, ok := v.(string)
	if !ok {
		return time.Time{}, errors.New("Parser must be a string or character stream, not " + typeName(v))
	}
	return dates.Parse(given, t.now)
}

// byCron is for a line of a crontab.
func (t *turn) byCron() error {
	given, ok := t.job.Value("cron").(string)
	line, err := cron.Parse(given)
	if err != nil || !ok {
		return t.fault("Invalid cron string. Ignoring job %s.", t.name)
	}
	next := t.time("_next_fire_time")
	// Unlike Salt: after the clock was set back, the line is asked again. One that names hours is not when the clock
	// was set back by little, as on the last Sunday in October: it would be run twice.
	if back := t.back(); back > summer || back > 0 && line.EveryHour() {
		next = time.Time{}
	}
	if !next.IsZero() {
		return nil
	}
	next, ok = line.Next(t.now)
	if !ok {
		return t.fault("Invalid cron string. Ignoring job %s.", t.name)
	}
	t.set("_next_fire_time", next)
	return nil
}
