package dates

import (
	"strconv"
	"time"
)

// ymd are the numbers of a text that are year, month and day in an order that is found out last.
type ymd struct {
	v       []int
	century bool // a year has all its digits
	y, m, d int  // 1 + the place of what is known, 0: not known
}

// addText adds the digits of a token.
func (l *ymd) addText(t string) error {
	n, err := strconv.Atoi(t)
	if err != nil {
		return ErrUnread
	}
	if len(t) > 2 {
		return l.add(n, 'Y', true)
	}
	return l.add(n, 0, false)
}

// add adds a number, which may be known to be a year or a month.
func (l *ymd) add(n int, label byte, century bool) error {
	if n > 100 {
		century = true
		if label == 0 {
			label = 'Y'
		}
	}
	l.century = l.century || century
	l.v = append(l.v, n)
	place := &l.y
	switch label {
	case 0:
		return nil
	case 'M':
		place = &l.m
	}
	if *place != 0 {
		return ErrUnread
	}
	*place = len(l.v)
	return nil
}

// couldBeDay tells whether n may be a day beside what is there already.
func (l *ymd) couldBeDay(n int) bool {
	most := 31
	if l.m != 0 {
		year, month := 2000, l.v[l.m-1]
		if l.y != 0 {
			year = l.v[l.y-1]
		}
		if month < 1 || month > 12 {
			return false
		}
		most = daysIn(year, time.Month(month))
	}
	return n >= 1 && n <= most
}

// resolve tells year, month and day apart; nil for what is not there.
func (l *ymd) resolve() (year, month, day *int, err error) {
	known := 0
	for _, at := range []int{l.y, l.m, l.d} {
		if at != 0 {
			known++
		}
	}
	switch n := len(l.v); {
	case n == 0:
		return nil, nil, nil, nil
	case n > 3:
		return nil, nil, nil, ErrUnread
	case n == known || n == 3 && known == 2:
		return l.fromPlaces()
	case n == 1 || n == 2 && l.m != 0:
		year, month, day = l.oneBesideMonth()
	case n == 2:
		year, month, day = l.two()
	default:
		year, month, day = l.three()
	}
	return year, month, day, nil
}

// fromPlaces is for numbers that are known, all or all but one.
func (l *ymd) fromPlaces() (year, month, day *int, err error) {
	if len(l.v) == 3 {
		missing := 1 + 2 + 3 - l.y - l.m - l.d
		switch 0 {
		case l.y:
			l.y = missing
		case l.m:
			l.m = missing
		default:
			l.d = missing
		}
	}
	return l.place(l.y), l.place(l.m), l.place(l.d), nil
}

func (l *ymd) place(at int) *int {
	if at == 0 {
		return nil
	}
	return &l.v[at-1]
}

func (l *ymd) oneBesideMonth() (year, month, day *int) {
	other := &l.v[0]
	if l.m != 0 {
		month = &l.v[l.m-1]
		if len(l.v) == 1 {
			return nil, month, nil
		}
		other = &l.v[2-l.m]
	}
	if *other > 31 {
		return other, month, nil
	}
	return nil, month, other
}

func (l *ymd) two() (year, month, day *int) {
	a, b := &l.v[0], &l.v[1]
	switch {
	case *a > 31:
		return a, b, nil
	case *b > 31:
		return b, a, nil
	}
	return nil, a, b
}

func (l *ymd) three() (year, month, day *int) {
	a, b, c := &l.v[0], &l.v[1], &l.v[2]
	switch {
	case l.m == 1 && *b > 31:
		return b, a, c
	case l.m == 1:
		return c, a, b
	case l.m == 2 && *a > 31:
		return a, b, c
	case l.m == 2:
		return c, b, a
	case l.m == 3 && *b > 31:
		return b, c, a
	case l.m == 3:
		return a, c, b
	case *a > 31 || l.y == 1:
		return a, b, c
	case *a > 12:
		return c, b, a
	}
	return c, a, b
}
