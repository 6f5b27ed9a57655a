package jinja

import (
	"math"
	"strconv"
	"strings"
	"time"

	"brine/modules/renderers/jinja/py"
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
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 >= len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		b.WriteString(timeField(when, format[i]))
	}
	return b.String(), r.work.Grow(b.Len())
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
		if when, ok := readDate(text, now.UTC().Add(time.Duration(offset)*time.Second)); ok && when.Year() > 0 && when.Year() < 10000 {
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

// timeLayouts are fields of strftime that Go has a layout for.
var timeLayouts = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'y': "06", 'B': "January", 'b': "Jan", 'h': "Jan",
	'A': "Monday", 'a': "Mon", 'I': "03", 'p': "PM", 'j': "002", 'D': "01/02/06", 'F': "2006-01-02", 'T': "15:04:05",
	'R': "15:04", 'e': "_2", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05", 'r': "03:04:05 PM",
}

func timeField(t time.Time, c byte) string {
	if layout, ok := timeLayouts[c]; ok {
		return t.Format(layout)
	}
	two := func(n int) string { return strconv.Itoa(100 + n)[1:] }
	switch c {
	case '%':
		return "%"
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 's':
		return strconv.FormatInt(t.Unix(), 10)
	case 'f':
		return strconv.Itoa(1000000 + t.Nanosecond()/1000)[1:]
	case 'w':
		return strconv.Itoa(int(t.Weekday()))
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1)
	case 'U':
		return two((t.YearDay() + 6 - int(t.Weekday())) / 7)
	case 'W':
		return two((t.YearDay() + 6 - (int(t.Weekday())+6)%7) / 7)
	case 'V':
		_, w := t.ISOWeek()
		return two(w)
	case 'G':
		y, _ := t.ISOWeek()
		return strconv.Itoa(y)
	case 'C':
		return two(t.Year() / 100)
	case 'z', 'Z':
		return "" // the time stamp has no zone
	}
	return "%" + string(c)
}
