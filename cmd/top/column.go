package top

import (
	"cmp"
	"time"

	"brine/supervisor/stats"
)

// column is one column of the list.
type column struct {
	title string
	key   string // key that sorts by the column; "" for none
	help  string
	width int
	left  bool
	rank  int // on a narrow screen, the column with the highest rank is left out first
	cell  func(r *row, v *view) string
	tone  func(r *row, v *view) tone
	less  func(a, b *row) int // the rows of interest to an operator come first
}

// view holds the data that cells need besides their row.
type view struct{ now time.Time }

// down compares two numbers. The greater comes first.
func down[T cmp.Ordered](a, b T) int { return cmp.Compare(b, a) }

// columns are all columns after the name, from left to right. tails adds the last ones.
func columns() []column {
	return []column{
		{title: "STATE", width: 8, left: true, rank: 3, cell: func(r *row, _ *view) string {
			return stateWord(r.State)
		}, tone: stateTone},
		{title: "AGE", key: "a", help: "age of the state", width: 5, rank: 5,
			cell: func(r *row, v *view) string { return since(r.Since, v.now) }, tone: ageTone,
			less: func(a, b *row) int { return b.Since.Compare(a.Since) }},
		{title: "RST", key: "x", help: "restarts", width: 4, rank: 2,
			cell: func(r *row, _ *view) string { return count(r.Restarts) }, tone: restartTone,
			less: func(a, b *row) int { return down(a.Restarts, b.Restarts) }},
		{title: "WAIT", key: "m", help: "messages waiting", width: 5, rank: 0,
			cell: func(r *row, _ *view) string { return count(r.Mailbox) }, tone: waitTone,
			less: func(a, b *row) int { return down(a.Mailbox, b.Mailbox) }},
		{title: "OLDEST", key: "o", help: "age of the oldest waiting", width: 6, rank: 6, cell: oldest, tone: waitTone,
			less: func(a, b *row) int { return down(a.OldestMS, b.OldestMS) }},
		{title: "MSG/S", key: "r", help: "messages per second", width: 6, rank: 1,
			cell: func(r *row, _ *view) string {
				return perSecond(r.rate)
			}, tone: func(r *row, _ *view) tone { return pick(r.rate < 0.05, dim) },
			less: func(a, b *row) int { return down(a.rate, b.rate) }},
		{title: "TREND", width: 12, rank: 9, cell: func(r *row, _ *view) string {
			return spark(r.trend.rates, 12)
		}, tone: func(*row, *view) tone { return accent }},
		{title: "BUSY", key: "b", help: "time in handlers", width: 5, rank: 4,
			cell: func(r *row, _ *view) string { return percent(r.share) }, tone: busyTone,
			less: func(a, b *row) int { return down(a.share, b.share) }},
		{title: "", width: 8, left: true, rank: 10, cell: func(r *row, _ *view) string {
			return bar(r.share, 8)
		}, tone: busyTone},
		{title: "P99", key: "l", help: "99 of 100 handling times", width: 6, rank: 7,
			cell: func(r *row, _ *view) string {
				return p99(r.Handling)
			}, less: func(a, b *row) int { return down(a.Handling.P99US, b.Handling.P99US) }},
		{title: "FAILED", key: "f", help: "messages failed or lost", width: 6, rank: 8,
			cell: func(r *row, _ *view) string { return count(r.Failed + r.Lost) },
			tone: func(r *row, _ *view) tone { return pick(r.Failed+r.Lost == 0, dim) },
			less: func(a, b *row) int { return down(a.Failed+a.Lost, b.Failed+b.Lost) }},
	}
}

// tails are the columns of texts, which share the remaining width. The column with the lowest rank has
// priority.
func tails() []column {
	return []column{
		{title: "IN HAND", width: 22, left: true, rank: 0, cell: func(r *row, _ *view) string {
			return clean(r.doing())
		},
			tone: func(r *row, _ *view) tone { return pick(r.InHandMS >= 1000, bad) }},
		{title: "NOTE", width: 20, left: true, rank: 2, cell: func(r *row, _ *view) string {
			return clean(r.Note)
		}, tone: func(*row, *view) tone { return dim }},
		{title: "LAST DEATH", key: "d", help: "last death", width: 24, left: true, rank: 1,
			cell: func(r *row, v *view) string { return r.death(v.now) }, tone: deathTone,
			less: func(a, b *row) int { return diedAt(b).Compare(diedAt(a)) }},
	}
}

func diedAt(r *row) time.Time {
	if r.LastDeath == nil {
		return time.Time{}
	}
	return r.LastDeath.Time
}

// pick is t if yes is true, otherwise plain.
func pick(yes bool, t tone) tone {
	if yes {
		return t
	}
	return plain
}

func stateWord(state string) string {
	if state == stats.StateRestarting {
		return "restart"
	}
	return state
}

func stateTone(r *row, _ *view) tone {
	switch r.State {
	case stats.StateRunning:
		return good
	case stats.StateDead, stats.StateBackoff:
		return bad
	}
	return warn
}

// lately is how long a death is highlighted.
const lately = time.Minute

func diedLately(r *row, v *view) bool {
	return r.LastDeath != nil && v.now.Sub(r.LastDeath.Time) < lately
}

func ageTone(r *row, v *view) tone { return pick(diedLately(r, v), warn) }

func restartTone(r *row, v *view) tone {
	switch {
	case diedLately(r, v):
		return bad
	case r.Restarts == 0:
		return dim
	}
	return warn
}

func deathTone(r *row, v *view) tone {
	if diedLately(r, v) {
		return bad
	}
	return dim
}

func oldest(r *row, _ *view) string {
	if r.Mailbox == 0 {
		return none
	}
	return millis(r.OldestMS)
}

func waitTone(r *row, _ *view) tone {
	switch {
	case r.Mailbox == 0:
		return dim
	case r.OldestMS >= 1000:
		return bad
	}
	return warn
}

func busyTone(r *row, _ *view) tone {
	switch {
	case r.share >= 0.8:
		return bad
	case r.share >= 0.4:
		return warn
	case r.share < 0.005:
		return dim
	}
	return good
}

func p99(s stats.Spread) string {
	if s.Count == 0 {
		return none
	}
	return micros(s.P99US)
}
