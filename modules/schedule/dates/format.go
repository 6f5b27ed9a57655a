package dates

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Format writes a date in a format of strftime. What it does not know stays as it is.
func Format(at time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		b.WriteString(directive(at, format[i]))
	}
	return b.String()
}

// layouts are directives that have a layout in Go.
var layouts = map[byte]string{
	'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'y': "06", 'b': "Jan", 'h': "Jan",
	'B': "January", 'a': "Mon", 'A': "Monday", 'I': "03", 'p': "PM", 'j': "002", 'e': "_2", 'T': "15:04:05",
	'D': "01/02/06", 'F': "2006-01-02", 'R': "15:04", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05",
	'r': "03:04:05 PM",
}

func directive(at time.Time, c byte) string {
	if layout, ok := layouts[c]; ok {
		return at.Format(layout)
	}
	switch c {
	case 'f':
		return fmt.Sprintf("%06d", at.Nanosecond()/1000)
	case 'w':
		return strconv.Itoa(int(at.Weekday()))
	case 'u':
		return strconv.Itoa(weekdayOf(at) + 1)
	case 's':
		year, month, day := at.Date()
		hour, minute, second := at.Clock()
		return strconv.FormatInt(time.Date(year, month, day, hour, minute, second, 0, time.Local).Unix(), 10)
	case 'U':
		return fmt.Sprintf("%02d", (at.YearDay()+6-int(at.Weekday()))/7)
	case 'W':
		return fmt.Sprintf("%02d", (at.YearDay()+6-weekdayOf(at))/7)
	case 'V':
		_, week := at.ISOWeek()
		return fmt.Sprintf("%02d", week)
	case 'G':
		year, _ := at.ISOWeek()
		return strconv.Itoa(year)
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '%':
		return "%"
	case 'z', 'Z':
		return "" // a clock on the wall has none
	}
	return "%" + string(c)
}

// ErrFormat means that a text does not follow its format.
var ErrFormat = errors.New("dates: the text does not follow its format")

// Scan reads a date in a format of strptime. What the format does not hold is that of 1 January 1900, midnight.
func Scan(text, format string) (time.Time, error) {
	s := &scanner{text: text, year: 1900, month: 1, day: 1}
	format = strings.NewReplacer("%%", "%%", "%c", "%a %b %d %H:%M:%S %Y", "%x", "%m/%d/%y", "%X",
		"%H:%M:%S").Replace(format)
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case c == '%' && i+1 < len(format):
			i++
			if !s.directive(format[i]) {
				return time.Time{}, ErrFormat
			}
		case isSpace(c):
			if s.text == "" || !isSpace(s.text[0]) {
				return time.Time{}, ErrFormat
			}
			s.text = strings.TrimLeft(s.text, " \t\r\n\f\v")
		case len(s.text) > 0 && lower(s.text[0]) == lower(c):
			s.text = s.text[1:]
		default:
			return time.Time{}, ErrFormat
		}
	}
	return s.date()
}

func isSpace(c byte) bool { return strings.IndexByte(" \t\r\n\f\v", c) >= 0 }

func lower(c byte) byte { return strings.ToLower(string(c))[0] }

// scanner holds what is still to be read, and what has been.
type scanner struct {
	text                                   string
	year, month, day, hour, minute, second int
	micro, yearDay                         int
	half                                   int // 1: am, 2: pm
	twelve                                 bool
}

// digits reads a number of at most n digits from low to high, as many digits as fit.
func (s *scanner) digits(to *int, n, low, high int) bool {
	have := 0
	for have < n && have < len(s.text) && s.text[have] >= '0' && s.text[have] <= '9' {
		have++
	}
	for ; have > 0; have-- {
		if v, err := strconv.Atoi(s.text[:have]); err == nil && v >= low && v <= high {
			*to, s.text = v, s.text[have:]
			return true
		}
	}
	return false
}

func (s *scanner) directive(c byte) bool {
	switch c {
	case 'Y':
		before := len(s.text)
		return s.digits(&s.year, 4, 1, 9999) && before-len(s.text) == 4
	case 'y':
		if !s.digits(&s.year, 2, 0, 99) {
			return false
		}
		s.year += 1900
		if s.year < 1969 {
			s.year += 100
		}
		return true
	case 'm':
		return s.digits(&s.month, 2, 1, 12)
	case 'd':
		return s.digits(&s.day, 2, 1, 31)
	case 'H':
		return s.digits(&s.hour, 2, 0, 23)
	case 'I':
		s.twelve = true
		return s.digits(&s.hour, 2, 1, 12)
	case 'M':
		return s.digits(&s.minute, 2, 0, 59)
	case 'S':
		return s.digits(&s.second, 2, 0, 61)
	case 'j':
		return s.digits(&s.yearDay, 3, 1, 366)
	case 'f':
		return s.fraction()
	case '%':
		rest, ok := strings.CutPrefix(s.text, "%")
		s.text = rest
		return ok
	}
	return s.name(c)
}

func (s *scanner) fraction() bool {
	before := s.text
	if !s.digits(&s.micro, 6, 0, 999999) {
		return false
	}
	for range 6 - (len(before) - len(s.text)) {
		s.micro *= 10
	}
	return true
}

// name reads the name of a month, of a weekday, or of a half of the day.
func (s *scanner) name(c byte) bool {
	var unused int
	switch c {
	case 'b':
		return s.word(months, 1, true, &s.month)
	case 'B':
		return s.word(months, 1, false, &s.month)
	case 'a':
		return s.word(weekdays, 0, true, &unused)
	case 'A':
		return s.word(weekdays, 0, false, &unused)
	case 'p':
		return s.word([][]string{{"am"}, {"pm"}}, 1, true, &s.half)
	}
	return false
}

// word reads the first, or the last, of the names of a value.
func (s *scanner) word(list [][]string, base int, short bool, to *int) bool {
	for i, names := range list {
		name := names[len(names)-1]
		if short {
			name = names[0]
		}
		if len(s.text) >= len(name) && strings.EqualFold(s.text[:len(name)], name) {
			*to, s.text = base+i, s.text[len(name):]
			return true
		}
	}
	return false
}

func (s *scanner) date() (time.Time, error) {
	if s.twelve && s.half > 0 {
		s.hour = halfDay(s.hour%12, s.half-1)
	}
	if s.yearDay > 0 && s.month == 1 && s.day == 1 {
		at := time.Date(s.year, 1, s.yearDay, 0, 0, 0, 0, time.UTC)
		s.month, s.day = int(at.Month()), at.Day()
	}
	if s.text != "" || s.day > daysIn(s.year, time.Month(s.month)) || s.second > 59 {
		return time.Time{}, ErrFormat
	}
	return time.Date(s.year, time.Month(s.month), s.day, s.hour, s.minute, s.second, s.micro*1000, time.UTC), nil
}
