// Package dates reads and writes the texts of dates that stand in a schedule: free ones ("Monday 5:00pm") as
// python-dateutil reads them, and those that follow a format of strftime. A date here is what a clock on the wall
// shows: a time.Time in UTC whatever the zone of the machine. It is no calendar and knows nothing of schedules.
package dates

import (
	"errors"
	"fmt"
	"time"
)

// ErrUnread means that a text is no date.
var ErrUnread = errors.New("dates: the text is no date")

// ErrZoned means that a text names a zone, which no clock on the wall has: Salt cannot compare the two either.
var ErrZoned = errors.New("can't compare offset-naive and offset-aware datetimes")

// Wall is what a clock on the wall shows at t, in the zone that t is in.
func Wall(t time.Time) time.Time {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	return time.Date(year, month, day, hour, minute, second, t.Nanosecond()/1000*1000, time.UTC)
}

// Parse reads a free text. What it does not say is taken from now: the day, but not the time of the day, which is
// midnight. A weekday is the next of its name, today included. Answers to dateutil.parser.parse.
func Parse(text string, now time.Time) (time.Time, error) {
	p := &parser{tokens: split(text), now: now}
	if err := p.parse(); err != nil {
		return time.Time{}, err
	}
	if p.fields() == 0 {
		return time.Time{}, fmt.Errorf("%w: it is empty", ErrUnread)
	}
	at, err := p.build()
	if err != nil {
		return time.Time{}, err
	}
	if p.zone.known && (p.zone.offset != 0 || p.zone.name == "" || p.zone.name == "UTC") {
		return at, ErrZoned
	}
	return at, nil
}

// build puts the fields together over midnight of today.
func (p *parser) build() (time.Time, error) {
	year, month, day := p.now.Date()
	set(&year, p.year)
	if p.month != nil {
		month = time.Month(*p.month)
	}
	if month < 1 || month > 12 || year < 1 || year > 9999 {
		return time.Time{}, ErrUnread
	}
	if p.day == nil {
		day = min(day, daysIn(year, month))
	}
	set(&day, p.day)
	var hour, minute, second, micro int
	set(&hour, p.hour)
	set(&minute, p.minute)
	set(&second, p.second)
	set(&micro, p.micro)
	if day < 1 || day > daysIn(year, month) || !clock(hour, minute, second) {
		return time.Time{}, ErrUnread
	}
	at := time.Date(year, month, day, hour, minute, second, micro*1000, time.UTC)
	if p.weekday != nil && p.day == nil {
		at = at.AddDate(0, 0, (*p.weekday+7-weekdayOf(at))%7)
	}
	return at, nil
}

func set(to, from *int) {
	if from != nil {
		*to = *from
	}
}

func clock(hour, minute, second int) bool {
	return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60
}

// weekdayOf counts from Monday.
func weekdayOf(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
