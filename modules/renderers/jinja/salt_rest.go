package jinja

import (
	"math"
	"time"

	"brine/modules/renderers/jinja/py"
	"brine/modules/text/pytime"
)

func timeFilters() map[string]*builtin {
	f := filter("strftime", "date= format=", strftime, nil, "%Y-%m-%d")
	return map[string]*builtin{"strftime": f, "date_format": f}
}

// strftime writes a time in a format of C.
func strftime(r *run, a []any) (any, error) {
	if err := undefinedIn(a[0]); err != nil {
		return nil, err
	}
	format, ok := py.Text(a[1])
	if !ok {
		return nil, py.Errorf("TypeError", "strftime() argument 1 must be str, not %s", py.TypeName(a[1]))
	}
	when, err := whenOf(r, a[0])
	if err != nil {
		return nil, err
	}
	text := pytime.Strftime(when, format)
	return text, r.work.Grow(len(text))
}

// whenOf is the time that a value means: now for none, seconds since 1970, or the text of a date.
func whenOf(r *run, v any) (time.Time, error) {
	now := time.Now()
	if v == nil {
		return now, nil
	}
	text, isText := py.Text(v)
	if isText && !isStamp(text) {
		_, offset := now.Zone()
		if when, ok := readDate(text, now.UTC().Add(time.Duration(offset)*time.Second)); ok && when.Year() > 0 &&
			when.Year() < 10000 {
			return when, nil
		}
	}
	f, err := py.ToFloat(v)
	if err == nil && math.Abs(f) <= 1e11 && (!isText || isStamp(text)) {
		whole, part := math.Modf(f)
		return time.Unix(int64(whole), int64(part*1e9)), nil
	}
	shown, err := py.Str(r.work, v)
	if err != nil {
		return now, err
	}
	return now, py.Errorf("ValueError", "Unable to parse %s", shown)
}
