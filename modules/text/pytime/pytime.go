// Package pytime writes times as strftime of Python's datetime does on Linux for a time without a zone: the letters of
// the C library with its flags and widths, in English.
package pytime

import (
	"strconv"
	"strings"
	"time"
)

// Strftime writes a time in a format. What is no field stays as it is.
func Strftime(t time.Time, format string) string {
	var b strings.Builder
	for format != "" {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			b.WriteString(format)
			break
		}
		b.WriteString(format[:i])
		text, size := field(t, format[i:])
		b.WriteString(text)
		format = format[i+size:]
	}
	return b.String()
}

// maxWidth bounds how wide a field is written, in characters.
const maxWidth = 1000

// field is the first field of a format, and how long it is there.
func field(t time.Time, s string) (text string, size int) {
	at, flag, upper, swap, width := 1, byte(0), false, false, 0
	for ; at < len(s) && strings.IndexByte("-_0^#", s[at]) >= 0; at++ {
		switch s[at] {
		case '^':
			upper = true
		case '#':
			swap = true
		default:
			flag = s[at]
		}
	}
	for ; at < len(s) && s[at] >= '0' && s[at] <= '9'; at++ {
		width = min(width*10+int(s[at]-'0'), maxWidth)
	}
	letter := at
	if letter+1 < len(s) && (s[letter] == 'E' || s[letter] == 'O') {
		letter++ // other calendars and digits, of which English has none
	}
	if letter >= len(s) {
		return s, len(s)
	}
	c := s[letter]
	if n, digits, pad, ok := number(t, c); ok {
		return padded(strconv.Itoa(n), flag, pad, max(width, digits)), letter + 1
	}
	text, ok := word(t, c)
	if !ok {
		return s[:letter+1], letter + 1
	}
	switch {
	case swap && c == 'p':
		text = strings.ToLower(text)
	case upper || swap:
		text = strings.ToUpper(text)
	}
	return padded(text, flag, ' ', width), letter + 1
}

// padded fills up at the left; a flag decides with what, or that nothing is to be filled.
func padded(text string, flag, pad byte, width int) string {
	switch flag {
	case '-':
		return text
	case '_':
		pad = ' '
	case '0':
		pad = '0'
	}
	return strings.Repeat(string(pad), max(0, width-len(text))) + text
}

// number is a field that is a number, with the digits that it has at least and what fills it up.
func number(t time.Time, c byte) (n, digits int, pad byte, ok bool) {
	isoYear, isoWeek := t.ISOWeek()
	half := (t.Hour()+11)%12 + 1
	day, monday := int(t.Weekday()), (int(t.Weekday())+6)%7
	switch c {
	case 'C':
		return t.Year() / 100, 2, '0', true
	case 'd':
		return t.Day(), 2, '0', true
	case 'e':
		return t.Day(), 2, ' ', true
	case 'f':
		return t.Nanosecond() / 1000, 6, '0', true
	case 'g':
		return isoYear % 100, 2, '0', true
	case 'G':
		return isoYear, 1, '0', true
	case 'H':
		return t.Hour(), 2, '0', true
	case 'I':
		return half, 2, '0', true
	case 'j':
		return t.YearDay(), 3, '0', true
	case 'k':
		return t.Hour(), 2, ' ', true
	case 'l':
		return half, 2, ' ', true
	case 'm':
		return int(t.Month()), 2, '0', true
	case 'M':
		return t.Minute(), 2, '0', true
	case 's':
		return int(t.Unix()), 1, '0', true
	case 'S':
		return t.Second(), 2, '0', true
	case 'u':
		return monday + 1, 1, '0', true
	case 'U':
		return (t.YearDay() + 6 - day) / 7, 2, '0', true
	case 'V':
		return isoWeek, 2, '0', true
	case 'w':
		return day, 1, '0', true
	case 'W':
		return (t.YearDay() + 6 - monday) / 7, 2, '0', true
	case 'y':
		return t.Year() % 100, 2, '0', true
	case 'Y':
		return t.Year(), 1, '0', true
	}
	return 0, 0, 0, false
}

// layouts are the fields of words, and those that several make up, in Go's terms.
var layouts = map[byte]string{'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan", 'p': "PM", 'P': "pm",
	'c': "Mon Jan _2 15:04:05 2006",
	'D': "01/02/06", 'F': "2006-01-02", 'r': "03:04:05 PM", 'R': "15:04", 'T': "15:04:05", 'x': "01/02/06",
	'X': "15:04:05"}

func word(t time.Time, c byte) (text string, ok bool) {
	switch c {
	case '%', 'n', 't':
		return map[byte]string{'%': "%", 'n': "\n", 't': "\t"}[c], true
	case 'z', 'Z':
		return "", true // the time has no zone
	}
	layout, ok := layouts[c]
	return t.Format(layout), ok
}
