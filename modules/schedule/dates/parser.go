package dates

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Words of a date in English; the place in the list is the value.
var (
	jumps = []string{" ", ".", ",", ";", "-", "/", "'", "at", "on", "and", "ad", "m", "t", "of", "st", "nd", "rd",
		"th"}
	weekdays = [][]string{{"mon", "monday"}, {"tue", "tuesday"}, {"wed", "wednesday"}, {"thu", "thursday"},
		{"fri", "friday"}, {"sat", "saturday"}, {"sun", "sunday"}}
	months = [][]string{{"jan", "january"}, {"feb", "february"}, {"mar", "march"}, {"apr", "april"}, {"may"},
		{"jun", "june"}, {"jul", "july"}, {"aug", "august"}, {"sep", "sept", "september"}, {"oct", "october"},
		{"nov", "november"}, {"dec", "december"}}
	units   = [][]string{{"h", "hour", "hours"}, {"m", "minute", "minutes"}, {"s", "second", "seconds"}}
	halves  = [][]string{{"am", "a"}, {"pm", "p"}}
	utcText = []string{"utc", "gmt", "z"}
)

// word is the value of a word in one of the lists, -1 when it is not there.
func word(list [][]string, token string) int {
	token = strings.ToLower(token)
	return slices.IndexFunc(list, func(names []string) bool { return slices.Contains(names, token) })
}

func jump(token string) bool { return slices.Contains(jumps, strings.ToLower(token)) }

// zone is what a text says of a zone.
type zone struct {
	name   string
	known  bool // there is an offset
	offset int  // seconds east of Greenwich
}

// parser holds what the tokens have told so far. A field that they do not tell is nil.
type parser struct {
	tokens []string
	now    time.Time
	ymd    ymd
	zone   zone

	year, month, day, weekday, hour, minute, second, micro *int
}

// fields is how many fields the text has told.
func (p *parser) fields() (n int) {
	for _, f := range []*int{p.year, p.month, p.day, p.weekday, p.hour, p.minute, p.second, p.micro} {
		if f != nil {
			n++
		}
	}
	return n
}

// at is a token, "" past the end: nothing takes it for a value, so a text that ends too early is no date.
func (p *parser) at(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return p.tokens[i]
}

func (p *parser) has(i int) bool { return i < len(p.tokens) }

func (p *parser) parse() (err error) {
	for i := 0; i < len(p.tokens) && err == nil; i++ {
		if i, err = p.token(i); err != nil {
			return err
		}
	}
	year, month, day, err := p.ymd.resolve()
	if err != nil {
		return err
	}
	p.year, p.month, p.day = year, month, day
	if year != nil && !p.ymd.century && *year < 100 {
		p.year = new(nearYear(*year, p.now.Year()))
	}
	if slices.Contains(utcText, strings.ToLower(p.zone.name)) {
		p.zone = zone{name: "UTC", known: true}
	}
	return nil
}

// nearYear gives two digits the century in which they are nearest to now.
func nearYear(year, now int) int {
	year += now / 100 * 100
	if year >= now+50 {
		return year - 100
	} else if year < now-50 {
		return year + 100
	}
	return year
}

// token takes the token at i and perhaps more; it gives the place of the last one taken.
func (p *parser) token(i int) (int, error) {
	t := p.tokens[i]
	switch {
	case t[0] >= '0' && t[0] <= '9':
		return p.number(i)
	case word(weekdays, t) >= 0:
		p.weekday = new(word(weekdays, t))
	case word(months, t) >= 0:
		return p.monthName(i)
	case word(halves, t) >= 0:
		if p.hour == nil || *p.hour > 12 {
			return i, ErrUnread
		}
		p.hour = new(halfDay(*p.hour, word(halves, t)))
	case p.zoneName(t):
		p.zone.name = t
		if slices.Contains(utcText, strings.ToLower(t)) {
			p.zone.known = true
		}
		if sign := p.at(i + 1); sign == "+" || sign == "-" {
			// "GMT+3" is "my time +3 is GMT", the other way round than "+03:00".
			p.tokens[i+1] = map[string]string{"+": "-", "-": "+"}[sign]
			p.zone.known = false
			if slices.Contains(utcText, strings.ToLower(t)) {
				p.zone.name = ""
			}
		}
	case p.hour != nil && (t == "+" || t == "-"):
		return p.zoneOffset(i)
	case !jump(t):
		return i, ErrUnread
	}
	return i, nil
}

func (p *parser) zoneName(t string) bool {
	if p.hour == nil || p.zone.name != "" || p.zone.known || len(t) > 5 {
		return false
	}
	return t == "z" || strings.IndexFunc(t, func(r rune) bool { return r < 'A' || r > 'Z' }) < 0
}

// zoneOffset reads +0300, +03:00 or +03.
func (p *parser) zoneOffset(i int) (int, error) {
	sign := 1
	if p.tokens[i] == "-" {
		sign = -1
	}
	t := p.at(i + 1)
	hours, minutes := t, "0"
	switch {
	case len(t) == 4:
		hours, minutes = t[:2], t[2:]
	case p.at(i+2) == ":":
		minutes = p.at(i + 3)
		i += 2
	case len(t) > 2:
		return i, ErrUnread
	}
	h, err1 := strconv.Atoi(hours)
	m, err2 := strconv.Atoi(minutes)
	if err1 != nil || err2 != nil {
		return i, ErrUnread
	}
	p.zone.offset, p.zone.known = sign*(h*3600+m*60), true
	return i + 1, nil
}

// monthName reads Sep, Sep-20, Sep/20/2009, "Sep of 2009".
func (p *parser) monthName(i int) (int, error) {
	if err := p.ymd.add(word(months, p.tokens[i])+1, 'M', false); err != nil {
		return i, err
	}
	switch sep := p.at(i + 1); {
	case sep == "-" || sep == "/":
		if err := p.ymd.addText(p.at(i + 2)); err != nil {
			return i, err
		}
		if p.has(i+3) && p.at(i+3) == sep {
			if err := p.ymd.addText(p.at(i + 4)); err != nil {
				return i, err
			}
			i += 2
		}
		i += 2
	case p.has(i+4) && sep == " " && p.at(i+3) == " " && strings.ToLower(p.at(i+2)) == "of":
		if n, err := strconv.Atoi(p.at(i + 4)); err == nil {
			if n < 100 {
				n = nearYear(n, p.now.Year())
			}
			if err := p.ymd.add(n, 'Y', true); err != nil {
				return i, err
			}
		}
		i += 4
	}
	return i, nil
}

func halfDay(hour, half int) int {
	switch {
	case hour < 12 && half == 1:
		return hour + 12
	case hour == 12 && half == 0:
		return 0
	}
	return hour
}
