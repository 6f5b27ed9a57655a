package pytime

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// directives are the parts of a format that Strptime knows, with what they fit.
var directives = map[byte]string{
	'Y': `\d\d\d\d`, 'y': `\d\d`, 'm': `1[0-2]|0[1-9]|[1-9]`, 'd': `3[0-1]|[1-2]\d|0[1-9]|[1-9]| [1-9]`,
	'H': `2[0-3]|[0-1]\d|\d`, 'I': `1[0-2]|0[1-9]|[1-9]`, 'M': `[0-5]\d|\d`, 'S': `6[0-1]|[0-5]\d|\d`, 'f': `[0-9]{1,6}`,
	'j': `36[0-6]|3[0-5]\d|[1-2]\d\d|0[1-9]\d|00[1-9]|[1-9]\d|0[1-9]|[1-9]`, 'p': `am|pm`,
	'b': `jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec`, 'a': `mon|tue|wed|thu|fri|sat|sun`,
	'B': `january|february|march|april|may|june|july|august|september|october|november|december`,
	'A': `monday|tuesday|wednesday|thursday|friday|saturday|sunday`,
}

// Strptime is datetime.strptime without zones: false is a text that the format does not fit. An error is a format with
// a part that is not known.
func Strptime(text, format string) (time.Time, bool, error) {
	pattern, parts, err := patternOf(format)
	if err != nil {
		return time.Time{}, false, err
	}
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false, nil
	}
	read := reading{year: 1900, month: 1, day: 1}
	for i, part := range parts {
		read.take(part, strings.ToLower(m[i+1]))
	}
	t, ok := read.time()
	return t, ok, nil
}

// patternOf is an expression for a format, whose groups are its parts.
func patternOf(format string) (*regexp.Regexp, []byte, error) {
	var out strings.Builder
	var parts []byte
	out.WriteString(`(?i)\A`)
	space := false
	for i := 0; i < len(format); i++ {
		c := format[i]
		if unicode.IsSpace(rune(c)) {
			if !space {
				out.WriteString(`\s+`)
			}
			space = true
			continue
		}
		space = false
		if c != '%' {
			out.WriteString(regexp.QuoteMeta(format[i : i+1]))
			continue
		}
		i++
		if i < len(format) && format[i] == '%' {
			out.WriteByte('%')
			continue
		}
		if i == len(format) || directives[format[i]] == "" {
			return nil, nil, fmt.Errorf("'%s' is a bad directive in format '%s'", strings.TrimPrefix(format[i-1:], "%"), format)
		}
		out.WriteString("(" + directives[format[i]] + ")")
		parts = append(parts, format[i])
	}
	pattern, err := regexp.Compile(out.String() + `\z`)
	return pattern, parts, err
}

// reading is what was read so far.
type reading struct {
	year, month, day, hour, minute, second, nano int
	yearDay                                      int
	half                                         string // am or pm
	twelve                                       bool
}

func (r *reading) take(part byte, text string) {
	n, _ := strconv.Atoi(strings.TrimSpace(text))
	switch part {
	case 'Y':
		r.year = n
	case 'y':
		r.year = 1900 + n
		if n <= 68 {
			r.year = 2000 + n
		}
	case 'm':
		r.month = n
	case 'b', 'B':
		r.month = 1 + strings.Index(directives['b'], text[:3])/4
	case 'd':
		r.day = n
	case 'j':
		r.yearDay = n
	case 'H', 'I':
		r.hour, r.twelve = n, part == 'I'
	case 'M':
		r.minute = n
	case 'S':
		r.second = n
	case 'f':
		r.nano, _ = strconv.Atoi((text + "000000000")[:9])
	case 'p':
		r.half = text
	}
}

func (r *reading) time() (time.Time, bool) {
	if r.twelve {
		r.hour %= 12
		if r.half == "pm" {
			r.hour += 12
		}
	}
	if r.yearDay > 0 {
		first := time.Date(r.year, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, r.yearDay-1)
		r.month, r.day = int(first.Month()), first.Day()
	}
	t := time.Date(r.year, time.Month(r.month), r.day, r.hour, r.minute, r.second, r.nano, time.UTC)
	return t, t.Day() == r.day && r.second < 60 && r.year > 0
}
