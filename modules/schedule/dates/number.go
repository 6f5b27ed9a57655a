package dates

import (
	"strconv"
	"strings"
)

// number takes a token that begins with a digit: a date without separators, a time, a day, an hour before "pm".
func (p *parser) number(i int) (int, error) {
	t := p.tokens[i]
	whole, _, dotted := strings.Cut(t, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return i, ErrUnread
	}
	switch next := p.at(i + 1); {
	case len(p.ymd.v) == 3 && (len(t) == 2 || len(t) == 4) && !dotted && p.hour == nil && (!p.has(i+1) || next != ":" &&
		word(units, next) < 0):
		return i, p.packed(t, &p.hour, &p.minute)
	case len(t) == 6 || len(t) > 6 && strings.IndexByte(t, '.') == 6:
		return i, p.six(t)
	case !dotted && (len(t) == 8 || len(t) == 12 || len(t) == 14):
		return i, p.compact(t)
	case p.unit(i) >= 0:
		return p.withUnit(i)
	case p.has(i+2) && next == ":":
		return p.colons(i, n)
	case p.has(i+1) && (next == "-" || next == "/" || next == "."):
		return p.separated(i)
	case !p.has(i+1) || jump(next):
		if p.has(i+2) && word(halves, p.at(i+2)) >= 0 {
			p.hour = new(halfDay(n, word(halves, p.at(i+2))))
			return i + 2, nil
		}
		return i + 1, p.ymd.add(n, 0, false)
	case word(halves, next) >= 0 && n < 24:
		p.hour = new(halfDay(n, word(halves, next)))
		return i + 1, nil
	case p.ymd.couldBeDay(n):
		return i, p.ymd.add(n, 0, false)
	}
	return i, ErrUnread
}

// packed reads two digits into each of the fields, as long as there are any.
func (p *parser) packed(t string, to ...**int) error {
	for _, f := range to {
		if t == "" {
			return nil
		}
		n, err := strconv.Atoi(t[:min(2, len(t))])
		if err != nil {
			return ErrUnread
		}
		*f, t = new(n), t[min(2, len(t)):]
	}
	return nil
}

// six is YYMMDD, or HHMMSS with or without a fraction once there is a date.
func (p *parser) six(t string) error {
	if len(p.ymd.v) > 0 || strings.Contains(t, ".") {
		if err := p.packed(t[:4], &p.hour, &p.minute); err != nil {
			return err
		}
		return p.seconds(t[4:])
	}
	for _, part := range []string{t[:2], t[2:4], t[4:]} {
		if err := p.ymd.addText(part); err != nil {
			return err
		}
	}
	return nil
}

// compact is YYYYMMDD with HHMM or HHMMSS behind it.
func (p *parser) compact(t string) error {
	for _, part := range []string{t[:4], t[4:6], t[6:8]} {
		if err := p.ymd.addText(part); err != nil {
			return err
		}
	}
	return p.packed(t[8:], &p.hour, &p.minute, &p.second)
}

// seconds reads 30 or 30.25.
func (p *parser) seconds(t string) error {
	whole, fraction, _ := strings.Cut(t, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return ErrUnread
	}
	micro := 0
	if fraction != "" {
		if micro, err = strconv.Atoi((fraction + "000000")[:6]); err != nil {
			return ErrUnread
		}
	}
	p.second, p.micro = new(n), new(micro)
	return nil
}

// sixtieths is the fraction of a number in sixtieths, cut.
func sixtieths(t string) (int, bool) {
	_, fraction, _ := strings.Cut(t, ".")
	fraction = strings.TrimRight(fraction, "0")
	if fraction == "" {
		return 0, false
	}
	fraction = fraction[:min(9, len(fraction))]
	n, err := strconv.Atoi(fraction)
	if err != nil {
		return 0, false
	}
	ten := 1
	for range fraction {
		ten *= 10
	}
	return 60 * n / ten, true
}

// unit is the place of the word for hours, minutes or seconds that belongs to a number: behind it or before it; -1:
// none.
func (p *parser) unit(i int) int {
	last := len(p.tokens) - 1
	switch {
	case p.has(i+1) && word(units, p.at(i+1)) >= 0:
		return i + 1
	case p.has(i+2) && p.at(i+1) == " " && word(units, p.at(i+2)) >= 0:
		return i + 2
	case i > 0 && word(units, p.at(i-1)) >= 0:
		return i - 1
	case i > 1 && i == last && p.at(i-1) == " " && word(units, p.at(i-2)) >= 0:
		return i - 2
	}
	return -1
}

// withUnit reads "10h", "10 minutes", and the 30 of "10h30".
func (p *parser) withUnit(i int) (int, error) {
	at, t := p.unit(i), p.tokens[i]
	unit := word(units, p.at(at))
	if at < i {
		unit++
		at = i
	}
	whole, _, _ := strings.Cut(t, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return i, ErrUnread
	}
	rest, some := sixtieths(t)
	switch unit {
	case 0:
		p.hour = new(n)
		if some {
			p.minute = new(rest)
		}
	case 1:
		p.minute, p.second = new(n), nil
		if some {
			p.second = new(rest)
		}
	case 2:
		err = p.seconds(t)
	}
	return at, err
}

// colons reads 10:20, 10:20.5, 10:20:30 and 10:20:30.25.
func (p *parser) colons(i, hour int) (int, error) {
	whole, _, _ := strings.Cut(p.at(i+2), ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return i, ErrUnread
	}
	p.hour, p.minute, p.second = new(hour), new(n), nil
	if rest, some := sixtieths(p.at(i + 2)); some {
		p.second = new(rest)
	}
	if p.has(i+4) && p.at(i+3) == ":" {
		if err := p.seconds(p.at(i + 4)); err != nil {
			return i, err
		}
		i += 2
	}
	return i + 2, nil
}

// separated reads 2024-05-01, 5/1, 1.5.2024, 01-Jan-2024.
func (p *parser) separated(i int) (int, error) {
	sep := p.at(i + 1)
	if err := p.ymd.addText(p.tokens[i]); err != nil {
		return i, err
	}
	if !p.has(i+2) || jump(p.at(i+2)) {
		return i + 1, nil
	}
	if err := p.addPart(p.at(i + 2)); err != nil {
		return i, err
	}
	if p.has(i+3) && p.at(i+3) == sep {
		if err := p.addPart(p.at(i + 4)); err != nil {
			return i, err
		}
		i += 2
	}
	return i + 2, nil
}

// addPart adds the number or the name of a month.
func (p *parser) addPart(t string) error {
	if month := word(months, t); month >= 0 {
		return p.ymd.add(month+1, 'M', false)
	}
	return p.ymd.addText(t)
}
