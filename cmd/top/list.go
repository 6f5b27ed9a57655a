package top

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// These lines of the screen do not belong to the list.
const (
	headLines = 3 // headline, sums, alarm
	footLines = 1
)

// A smaller screen shows nothing.
const (
	leastWidth  = 24
	leastHeight = 6
)

// body is the number of lines between head and footer.
func (m *model) body() int { return max(m.height-headLines-footLines, 1) }

// View draws the screen.
func (m *model) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	return v
}

// draw makes exactly as many lines as the screen has, none of them too long.
func (m *model) draw() string {
	var lines []string
	switch {
	case m.width < leastWidth || m.height < leastHeight:
		return fit("too small", m.width, false) + strings.Repeat("\n", max(m.height-1, 0))
	case m.page == pageHelp:
		lines = m.helpLines()
	case m.look == nil:
		lines = []string{m.headline(), "", m.waiting()}
	case m.page == pageActor:
		lines = m.actorLines()
	default:
		lines = m.listLines()
	}
	if over := m.height - footLines; len(lines) > over {
		lines = lines[:max(over, 0)]
	}
	for len(lines) < m.height-footLines {
		lines = append(lines, "")
	}
	return strings.Join(append(lines, m.footer()), "\n")
}

// waiting is the screen before the first look.
func (m *model) waiting() string {
	if m.err != nil {
		return " " + m.paint(bad, fit(clean(m.err.Error()), m.width-2, false))
	}
	return " asking ..."
}

func (m *model) listLines() []string {
	lines := []string{m.headline(), m.sums(), m.alarmLine()}
	l := arrange(m.width, m.natural())
	lines = append(lines, m.paint(inverse, fit(l.header(m.sort, m.reverse), m.width, false)))
	room := max(m.body()-1, 1)
	at := max(m.position(), 0)
	m.offset = min(max(m.offset, at-room+1), at)
	m.offset = max(min(m.offset, len(m.shown)-room), 0)
	for i, r := range m.shown[m.offset:min(m.offset+room, len(m.shown))] {
		lines = append(lines, m.line(l, r, m.offset+i == at))
	}
	if len(m.shown) == 0 {
		lines = append(lines, m.paint(dim, fit(" no actor matches", m.width, false)))
	}
	return lines
}

// headline shows the title, facts about the process, and the time.
func (m *model) headline() string {
	clock := m.state() + " "
	var facts []string
	if m.look != nil {
		facts = m.look.Facts
		clock = m.state() + m.look.At.Local().Format("15:04:05") + " "
	}
	room := m.width - utf8.RuneCountInString(clock)
	left := " " + clean(m.opt.Title) + "  "
	left = fit(left, min(utf8.RuneCountInString(left), max(room, 0)), false)
	room = max(room-utf8.RuneCountInString(left), 0)
	return m.paint(bold, left) + fit(several(facts, "  ", room), room, false) +
		m.paint(accent, fit(clock, min(m.width, utf8.RuneCountInString(clock)), false))
}

// several joins as many texts as fit into cells.
func several(texts []string, between string, cells int) string {
	all := ""
	for _, text := range texts {
		next := clean(text)
		if all != "" {
			next = all + between + next
		}
		if utf8.RuneCountInString(next) > cells {
			break
		}
		all = next
	}
	return all
}

// state says why the screen may be out of date.
func (m *model) state() string {
	switch {
	case m.paused:
		return "PAUSED "
	case m.err != nil && m.look != nil:
		return "NO ANSWER "
	}
	return ""
}

// sums is the line with the sums over all actors.
func (m *model) sums() string {
	return m.paint(dim, fit(" "+several(m.sumTexts(), " · ", m.width-2), m.width, false))
}

// sumTexts are the parts of that line, most important first.
func (m *model) sumTexts() []string {
	var rate float64
	var wait, restarts, actors int
	var lost, failed uint64
	var busiest *row
	for _, r := range m.rows {
		if r.root {
			continue
		}
		actors++
		rate, wait, restarts, lost, failed = rate+r.rate, wait+r.Mailbox, restarts+r.Restarts, lost+r.Lost,
			failed+r.Failed
		if busiest == nil || r.share > busiest.share {
			busiest = r
		}
	}
	var parts []string
	if all := len(m.look.Roots) + len(m.look.Silent); all > 1 {
		parts = append(parts, fmt.Sprintf("%d of %d answered", len(m.look.Roots), all))
	}
	parts = append(parts, fmt.Sprintf("%d actors", actors), perSecond(rate)+" msg/s", "waiting "+count(wait),
		"restarts "+count(restarts), "failed "+count(failed), "lost "+count(lost))
	if busiest != nil && busiest.share >= 0.005 {
		parts = append(parts, "busiest "+clean(busiest.Name)+" "+percent(busiest.share))
	}
	return parts
}

// alarmLine shows the most important problem: no answer, silent minions, or the latest death.
func (m *model) alarmLine() string {
	if m.err != nil {
		return m.paint(alarm, fit(" "+clean(m.err.Error()), m.width, false))
	}
	if n := len(m.look.Silent); n > 0 {
		return m.paint(warn, fit(" silent: "+clean(strings.Join(m.look.Silent, ", ")), m.width, false))
	}
	var worst *row
	for _, r := range m.rows {
		if r.LastDeath != nil && (worst == nil || r.LastDeath.Time.After(worst.LastDeath.Time)) {
			worst = r
		}
	}
	v := &view{now: m.now()}
	if worst == nil || m.now().Sub(worst.LastDeath.Time) > time.Hour {
		return ""
	}
	return m.paint(deathTone(worst, v), fit(" "+worst.flatName(len(m.look.Roots) == 1)+" died "+worst.death(v.now),
		m.width, false))
}

// footer is the line of keys, or the filter while the user types it.
func (m *model) footer() string {
	if m.typing {
		return m.paint(inverse, fit(" filter: "+m.filter+"█", m.width-22, false)) + m.paint(dim,
			fit("  enter keep, esc drop", 22, false))
	}
	keys := [][2]string{{"↑↓", "select"}, {"enter", "open"}, {"s", "sort"}, {"/", "filter"}, {"z", "busy only"},
		{"p", "pause"}, {"?", "help"}, {"q", "quit"}}
	switch m.page {
	case pageHelp:
		keys = [][2]string{{"any key", "back"}}
	case pageActor:
		keys = [][2]string{{"esc", "back"}, {"↑↓", "scroll"}, {"n", "next actor"}, {"s", "stack now"}, {"p", "pause"},
			{"?", "help"}}
	}
	state := everyText(m.opt.Every)
	if m.page == pageList {
		if m.busyOnly {
			state = "busy only · " + state
		}
		if m.filter != "" {
			state = "filter " + m.filter + " · " + state
		}
	}
	return m.footLine(keys, " "+state+" ")
}

// footLine shows as many keys as fit before the text at the end of the line.
func (m *model) footLine(keys [][2]string, end string) string {
	var b strings.Builder
	room := m.width - utf8.RuneCountInString(end)
	for _, k := range keys {
		n := utf8.RuneCountInString(k[0]) + utf8.RuneCountInString(k[1]) + 3
		if n > room {
			break
		}
		b.WriteString(" " + m.paint(accent, k[0]) + " " + k[1] + " ")
		room -= n
	}
	if room < 0 {
		return fit(end, m.width, false)
	}
	return b.String() + strings.Repeat(" ", room) + m.paint(dim, end)
}
