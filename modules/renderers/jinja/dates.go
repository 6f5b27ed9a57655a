package jinja

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// datePatterns are the forms of dates, each with groups named after what they hold.
type datePatterns struct{ whole, relative *regexp.Regexp }

const (
	monthName = `(?P<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
	timeOfDay = `(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d+)?)?`
	zoneName  = `(?: ?(?:z|utc|gmt|[+-]\d\d:?\d\d))?`
)

// dates are compiled when the first text is read.
var dates = sync.OnceValue(func() datePatterns {
	forms := []string{
		`(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)`, `(?P<year>\d{4})/(?P<month>\d\d?)/(?P<day>\d\d?)`,
		`(?P<month>\d\d?)/(?P<day>\d\d?)/(?P<year>\d{4})`, `(?P<day>\d\d?)[.-](?P<month>\d\d?)[.-](?P<year>\d{4})`,
		`(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)`, `(?P<day>\d\d?)[ -]` + monthName + `[ -](?P<year>\d{4})`,
		monthName + ` (?P<day>\d\d?),? (?P<year>\d{4})`,
	}
	return datePatterns{
		regexp.MustCompile(`^(?:` + strings.Join(forms, "|") + `)(?:(?:t| +)` + timeOfDay + `)?` + zoneName + `$`),
		regexp.MustCompile(`^([+-]?\d{1,6}) ?(sec|second|min|minute|hour|day|week|month|year)s?( ago)?$`),
	}
})

// readDate reads the common forms of dates, as timelib does: what the clock on the wall shows, whatever zone the text
// names. What timelib knows besides (weekdays, times alone, "first day of") is not read.
func readDate(text string, now time.Time) (time.Time, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if len(text) > 64 {
		return now, false
	}
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	switch text {
	case "now":
		return now, true
	case "today", "midnight":
		return midnight, true
	case "noon":
		return midnight.Add(12 * time.Hour), true
	case "tomorrow":
		return midnight.AddDate(0, 0, 1), true
	case "yesterday":
		return midnight.AddDate(0, 0, -1), true
	}
	if stamp, ok := strings.CutPrefix(text, "@"); ok {
		n, err := strconv.ParseInt(stamp, 10, 64)
		return time.Unix(n, 0).UTC(), err == nil && n < 1e11 && n > -6e10
	}
	if m := dates().relative.FindStringSubmatch(text); m != nil {
		return moved(now, m), true
	}
	return wholeDate(text)
}

// wholeDate reads a date with a year, and with a time of day or without.
func wholeDate(text string) (time.Time, bool) {
	re := dates().whole
	m := re.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	got := map[string]int{}
	for i, group := range re.SubexpNames() {
		switch {
		case m[i] == "" || group == "":
		case group == "name":
			got["month"] = 1 + slices.Index(strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec"), m[i])
		default:
			got[group], _ = strconv.Atoi(m[i])
		}
	}
	for group, most := range map[string]int{"month": 12, "day": 31, "hour": 23, "minute": 59, "second": 60} {
		if got[group] > most {
			return time.Time{}, false
		}
	}
	if got["month"] == 0 || got["day"] == 0 || got["year"] == 0 {
		return time.Time{}, false
	}
	return time.Date(got["year"], time.Month(got["month"]), got["day"], got["hour"], got["minute"], got["second"], 0,
		time.UTC), true
}

// moved is a time so many days and so on from another.
func moved(from time.Time, m []string) time.Time {
	n, _ := strconv.Atoi(m[1])
	if m[3] != "" {
		n = -n
	}
	switch m[2] {
	case "day":
		return from.AddDate(0, 0, n)
	case "week":
		return from.AddDate(0, 0, 7*n)
	case "month":
		return from.AddDate(0, n, 0)
	case "year":
		return from.AddDate(n, 0, 0)
	case "hour":
		return from.Add(time.Duration(n) * time.Hour)
	case "min", "minute":
		return from.Add(time.Duration(n) * time.Minute)
	}
	return from.Add(time.Duration(n) * time.Second)
}

// isStamp says whether a text is a number of seconds: one with as many digits as no date has.
func isStamp(text string) bool {
	switch len(text) {
	case 1, 2, 3, 5, 9, 10, 11:
		return strings.Trim(text, "0123456789") == ""
	}
	return false
}
