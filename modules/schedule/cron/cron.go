// Package cron tells when a crontab line is due: five fields, a sixth of seconds, names, lists, ranges, steps, the last
// day of a month (L) and the n-th weekday of it (mon#2, L5). It knows no zones: a date is what a clock on the wall
// shows. Hashed and random fields (H, R) and weekdays nearest to a day (15W) are refused. It answers to croniter, which
// Salt asks.
package cron

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrLine means that a text is no line of a crontab.
var ErrLine = errors.New("cron: not a line of a crontab")

// set is a set of small numbers.
type set uint64

func (s set) has(n int) bool { return s>>n&1 == 1 }

// Line is a line that was read.
type Line struct {
	second, minute, hour, day, month, weekday set

	anyDay, anyWeekday bool
	lastDay            bool
	nth                [7]set // which of a weekday's turns in a month; 0 is the last
	someNth            bool
}

// names that stand for whole lines.
var aliases = map[string]string{
	"@midnight": "0 0 * * *", "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// Parse reads a line.
func Parse(text string) (*Line, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if alias, ok := aliases[text]; ok {
		text = alias
	}
	f := strings.Fields(text)
	l := &Line{second: 1}
	var err error
	take := func(i int, to *set, r field) {
		if err == nil {
			*to, err = r.read(f[i])
		}
	}
	if len(f) != 5 && len(f) != 6 {
		return nil, fmt.Errorf("%w: %d fields", ErrLine, len(f))
	}
	take(0, &l.minute, minutes)
	take(1, &l.hour, hours)
	take(3, &l.month, months)
	if len(f) == 6 {
		take(5, &l.second, minutes)
	}
	if err != nil {
		return nil, err
	}
	if err := l.readDay(f[2]); err != nil {
		return nil, err
	}
	return l, l.readWeekday(f[4])
}

// readDay reads the days of the month.
func (l *Line) readDay(text string) error {
	var rest []string
	for part := range strings.SplitSeq(text, ",") {
		if part == "l" {
			l.lastDay = true
		} else {
			rest = append(rest, part)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	var err error
	l.day, err = days.read(strings.Join(rest, ","))
	l.anyDay = l.day == days.all()
	return err
}

// readWeekday reads the days of the week, 0 and 7 being Sunday.
func (l *Line) readWeekday(text string) error {
	var rest []string
	for part := range strings.SplitSeq(text, ",") {
		day, turn, ok := strings.Cut(part, "#")
		if !ok {
			if day, ok = strings.CutPrefix(part, "l"); !ok || day == "" {
				rest = append(rest, part)
				continue
			}
			turn = "0"
		}
		which, err := weekdays.read(day)
		if err != nil {
			return err
		}
		turns, err := (field{low: 0, high: 5}).number(turn)
		if err != nil || turns == 0 && strings.Contains(part, "#") {
			return fmt.Errorf("%w: %s", ErrLine, part)
		}
		l.someNth = true
		for day := range 8 {
			if which.has(day) {
				l.nth[day%7] |= 1 << turns
			}
		}
	}
	if len(rest) == 0 {
		return nil
	}
	var err error
	l.weekday, err = weekdays.read(strings.Join(rest, ","))
	if l.weekday.has(7) {
		l.weekday |= 1
	}
	l.weekday &= 1<<7 - 1
	l.anyWeekday = l.weekday == 1<<7-1
	return err
}

// years is how far Next looks: two leap years that are eight apart (1896, 1904), and no line needs more than the
// weekday of one.
const years = 50

// Next is the first date after at when the line is due; false when there is none within fifty years.
func (l *Line) Next(at time.Time) (time.Time, bool) {
	t := at.Truncate(time.Second).Add(time.Second)
	last := at.Year() + years
	for t.Year() <= last {
		year, month, day := t.Date()
		hour, minute, second := t.Clock()
		switch {
		case !l.month.has(int(month)):
			t = time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
		case !l.onDay(t):
			t = time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
		case !l.hour.has(hour):
			t = time.Date(year, month, day, hour+1, 0, 0, 0, time.UTC)
		case !l.minute.has(minute):
			t = time.Date(year, month, day, hour, minute+1, 0, 0, time.UTC)
		case !l.second.has(second):
			t = t.Add(time.Second)
		default:
			return t, true
		}
	}
	return time.Time{}, false
}

// EveryHour tells whether the line is due at all hours of its days.
func (l *Line) EveryHour() bool { return l.hour == hours.all() }

// onDay tells whether a day is one of the line's. Where both fields say something, one of them is enough.
func (l *Line) onDay(t time.Time) bool {
	month := l.day.has(t.Day()) || l.lastDay && t.AddDate(0, 0, 1).Day() == 1
	week := l.weekday.has(int(t.Weekday())) || l.someNth && l.turn(t)
	switch {
	case l.anyDay:
		return week
	case l.anyWeekday:
		return month
	}
	return month || week
}

// turn tells whether a day is the n-th of its weekday in the month that the line asks for.
func (l *Line) turn(t time.Time) bool {
	which := l.nth[t.Weekday()]
	return which.has((t.Day()+6)/7) || which.has(0) && t.AddDate(0, 0, 7).Month() != t.Month()
}

// Fields of a line.
var (
	minutes = field{low: 0, high: 59}
	hours   = field{low: 0, high: 23}
	days    = field{low: 1, high: 31}
	months  = field{low: 1, high: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep",
		"oct", "nov", "dec"}}
	weekdays = field{low: 0, high: 7, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}
)

// all holds every value of the field.
func (r field) all() set { return set(1<<(r.high+1)-1) &^ (1<<r.low - 1) }
