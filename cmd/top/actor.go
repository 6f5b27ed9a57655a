package top

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"brine/supervisor/stats"
)

// actorPage is the page of one actor.
type actorPage struct {
	key    string
	offset int
	stack  string // of its goroutines, if the user asked for it
	err    error
	asking bool
}

func (p *actorPage) onStacked(msg stacked) {
	if msg.key == p.key {
		p.stack, p.err, p.asking = msg.text, msg.err, false
	}
}

// actorLines draws the page: a fixed headline, and a part that can be scrolled.
func (m *model) actorLines() []string {
	r := m.row(m.actor.key)
	if r == nil {
		return []string{m.headline(), "", m.paint(warn, " "+fit(clean(m.actor.key)+" is gone: its work is done",
			max(m.width-1, 0), false))}
	}
	head := []string{m.headline(), m.actorTitle(r)}
	if m.err != nil {
		head = append(head, m.alarmLine())
	}
	body := m.actorBody(r)
	room := max(m.height-footLines-len(head), 1)
	m.actor.offset = max(min(m.actor.offset, len(body)-room), 0)
	body = body[m.actor.offset:min(m.actor.offset+room, len(body))]
	return append(head, body...)
}

func (m *model) actorTitle(r *row) string {
	state := fmt.Sprintf(" %s for %s ", r.State, since(r.Since, m.now()))
	name := " " + clean(r.key)
	room := m.width - utf8.RuneCountInString(state)
	return m.paint(inverse, fit(name, max(room, 0), false)) + m.paint(inverse,
		fit(state, min(utf8.RuneCountInString(state), m.width), false))
}

func (m *model) actorBody(r *row) []string {
	lines := append([]string{""}, m.figures(r)...)
	lines = append(lines, "")
	lines = append(lines, m.histograms(r)...)
	lines = append(lines, m.stackLines()...)
	lines = append(lines, m.slowLines(r)...)
	lines = append(lines, m.asideLines(r)...)
	lines = append(lines, m.deathLines(r)...)
	if n := len(r.Children); n > 0 {
		lines = append(lines, "", m.paint(bold, fit(fmt.Sprintf(" %d actors below", n), m.width, false)))
		for _, c := range r.Children {
			lines = append(lines, fit("   "+clean(c.Name)+"  "+c.State, m.width, false))
		}
	}
	return lines
}

// figures shows the numbers of an actor, in two columns if the width allows it.
func (m *model) figures(r *row) []string {
	hand := none
	if r.InHand != "" {
		hand = strings.TrimPrefix(r.InHand, "*") + " for " + millis(r.InHandMS)
	}
	waiting := count(r.Mailbox)
	if r.Mailbox > 0 {
		waiting += ", the oldest for " + millis(r.OldestMS)
	}
	trendWidth := min(max(m.width/2-26, 10), 40)
	pairs := [][2]string{
		{"Incarnation", fmt.Sprintf("%d, restarts %d, last hour %d", r.Incarnation, r.Restarts, r.RestartsHour)},
		{"Waiting", waiting},
		{"Messages", perSecond(r.rate) + "/s  " + spark(r.trend.rates, trendWidth)},
		{"Received", count(r.Received) + ", sent " + count(r.Sent)},
		{"Busy", fit(percent(r.share), 6, false) + spark(r.trend.shares, trendWidth)},
		{"Failed", fmt.Sprintf("%s, set aside %s", count(r.Failed), count(r.Quarantined))},
		{"In hand", clean(hand)},
		{"Lost", count(r.Lost) + lettersText(r.DeadLetters)},
		{"Note", clean(r.Note)},
		{"Slow", fmt.Sprintf("%s, abandoned %s, stuck %s", count(r.Slow), count(r.Abandoned), count(r.Stuck))},
	}
	half := m.width
	if m.width >= 72 {
		half = m.width / 2
	}
	var cells []string
	for _, p := range pairs {
		cells = append(cells, " "+m.paint(dim, fit(p[0], 12, false))+fit(p[1], max(half-13, 0), false))
	}
	return inColumns(cells, half < m.width)
}

// lettersText says how messages were lost.
func lettersText(byKind map[string]uint64) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		if n := byKind[kind]; n > 0 {
			parts = append(parts, clean(kind)+" "+count(n))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// inColumns puts cells that are padded to half of the width side by side.
func inColumns(cells []string, two bool) []string {
	if !two {
		return cells
	}
	var lines []string
	for i := 0; i < len(cells); i += 2 {
		lines = append(lines, strings.Join(cells[i:min(i+2, len(cells))], ""))
	}
	return lines
}

// histograms draws how long the handling of messages took, and how long they waited.
func (m *model) histograms(r *row) []string {
	half := m.width
	if m.width >= 72 {
		half = m.width / 2
	}
	a, b := m.histogram("Handling", r.Handling, half), m.histogram("Waiting in the mailbox", r.Waiting, half)
	if half == m.width {
		return append(append(a, ""), b...)
	}
	var lines []string
	for i := range max(len(a), len(b)) {
		left, right := strings.Repeat(" ", half), ""
		if i < len(a) {
			left = a[i]
		}
		if i < len(b) {
			right = b[i]
		}
		lines = append(lines, left+right)
	}
	return lines
}

// histogram draws one histogram. Each line is width cells long.
func (m *model) histogram(title string, s stats.Spread, width int) []string {
	head := fit(" "+title, width, false)
	if s.Count == 0 {
		return []string{m.paint(bold, head), fit("   nothing yet", width, false)}
	}
	sum := fmt.Sprintf("   p50 %s  p99 %s  max %s", micros(s.P50US), micros(s.P99US), micros(s.MaxUS))
	lines := []string{m.paint(bold, head), m.paint(dim, fit(sum, width, false))}
	first, most := -1, uint64(1)
	for i, n := range s.Buckets {
		if n > 0 && first < 0 {
			first = i
		}
		most = max(most, n)
	}
	room := min(max(width-19, 4), 40)
	for i := max(first, 0); i < len(s.Buckets); i++ {
		n := s.Buckets[i]
		lines = append(lines, fit("  <"+short(time.Duration(1)<<(i+9)), 10, false)+m.paint(accent,
			fit(bar(float64(n)/float64(most), room), room, false))+
			fit(" "+count(n), width-10-room, false))
	}
	return lines
}

// stackLines shows what the goroutines are doing, if the user asked for it.
func (m *model) stackLines() []string {
	p := &m.actor
	switch {
	case p.asking:
		return []string{"", m.paint(bold, " Goroutines"), m.paint(dim, "   asking ...")}
	case p.err != nil:
		return []string{"", m.paint(bold, " Goroutines"), m.paint(bad, fit("   "+clean(p.err.Error()), m.width, false))}
	case p.stack == "":
		return nil
	}
	return append([]string{"", m.paint(bold, " Goroutines")}, m.code(p.stack)...)
}

// code formats the lines of a stack.
func (m *model) code(stack string) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(stack, "\n"), "\n") {
		indent := "   "
		if strings.HasPrefix(line, "\t") {
			indent = "     "
		}
		lines = append(lines, m.paint(dim, fit(indent+clean(line), m.width, false)))
	}
	return lines
}

// slowLines shows the last handler that ran too long.
func (m *model) slowLines(r *row) []string {
	s := r.LastSlow
	if s == nil {
		return nil
	}
	text := fmt.Sprintf("%s  %s ago, incarnation %d, on %s for %s", s.Time.Local().Format(dayAndTime),
		since(s.Time, m.now()), s.Incarnation, strings.TrimPrefix(s.Message, "*"), short(s.Running))
	if s.Abandoned {
		text += ", abandoned"
	}
	return slices.Concat([]string{"", m.paint(bold, " Last slow handler")}, m.wrapped(plain, text), m.code(s.Stack))
}

// asideLines shows the messages that were set aside because they killed the actor twice.
func (m *model) asideLines(r *row) []string {
	if len(r.Quarantine) == 0 {
		return nil
	}
	lines := []string{"", m.paint(bold, " Messages set aside")}
	for _, q := range r.Quarantine {
		text := fmt.Sprintf("%s  %s, %d bytes, %.12s: %s", q.Time.Local().Format(dayAndTime),
			strings.TrimPrefix(q.Message, "*"), q.Size, q.Hash, q.Reason)
		lines = append(lines, m.wrapped(plain, text)...)
	}
	return lines
}

// wrapped breaks a text into lines that fit on the screen, in a tone.
func (m *model) wrapped(t tone, text string) []string {
	var lines []string
	line, indent := "", "   "
	put := func() {
		lines = append(lines, m.paint(t, fit(indent+line, m.width, false)))
		line, indent = "", "     "
	}
	for word := range strings.SplitSeq(clean(text), " ") {
		if line != "" && utf8.RuneCountInString(indent+line+" "+word) > m.width {
			put()
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	put()
	return lines
}

// dayAndTime is the format of times on the page of an actor.
const dayAndTime = "2006-01-02 15:04:05"

// deathLines shows the last deaths, latest first, with their stacks.
func (m *model) deathLines(r *row) []string {
	deaths := r.Deaths
	if len(deaths) == 0 && r.LastDeath != nil {
		deaths = []stats.Death{*r.LastDeath}
	}
	if len(deaths) == 0 {
		return []string{"", m.paint(dim, " No deaths")}
	}
	lines := []string{"", m.paint(bold, fit(fmt.Sprintf(" Last deaths, restarts in all %d", r.Restarts), m.width,
		false))}
	for i := len(deaths) - 1; i >= 0; i-- {
		d := deaths[i]
		text := fmt.Sprintf("%s  %s ago, incarnation %d, lived %s", d.Time.Local().Format(dayAndTime),
			since(d.Time, m.now()), d.Incarnation, span(d.Lived))
		if d.Message != "" {
			text += ", on " + strings.TrimPrefix(d.Message, "*")
		}
		lines = slices.Concat(lines, m.wrapped(plain, text), m.wrapped(bad, d.Reason))
		if d.Stack != "" {
			lines = append(lines, m.code(d.Stack)...)
		}
	}
	return lines
}
