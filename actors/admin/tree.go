package admin

import (
	"time"

	"brine/supervisor/stats"
	"brine/wire/payload"
)

// childMap is one actor, with the field names of stats.Child.
func childMap(c stats.Child) *payload.Map {
	var last any
	if c.LastDeath != nil {
		last = deathMap(*c.LastDeath)
	}
	m := payload.M(
		"name", c.Name,
		"path", c.Path,
		"pid", c.PID,
		"state", c.State,
		"since", text(c.Since),
		"incarnation", c.Incarnation,
		"restarts", c.Restarts,
		"mailbox", c.Mailbox,
		"oldest_ms", c.OldestMS,
		"received", c.Received,
		"sent", c.Sent,
		"failed", c.Failed,
		"abandoned", c.Abandoned,
		"lost", c.Lost,
		"unhandled", c.Unhandled,
		"busy", c.Busy,
		"busy_ms", c.BusyMS,
		"in_hand", c.InHand,
		"in_hand_ms", c.InHandMS,
		"note", c.Note,
		"handling", spreadMap(c.Handling),
		"waiting", spreadMap(c.Waiting),
		"last_death", last,
	)
	children := make([]any, len(c.Children))
	for i, below := range c.Children {
		children[i] = childMap(below)
	}
	return m.Set("deaths", deathList(c.Deaths)).Set("children", children)
}

func spreadMap(s stats.Spread) *payload.Map {
	return payload.M("count", s.Count, "p50_us", s.P50US, "p99_us", s.P99US, "max_us", s.MaxUS)
}

func deathList(deaths []stats.Death) []any {
	list := make([]any, len(deaths))
	for i, d := range deaths {
		list[i] = deathMap(d)
	}
	return list
}

func deathMap(d stats.Death) *payload.Map {
	return payload.M(
		"time", text(d.Time),
		"reason", d.Reason,
		"message", d.Message,
		"stack", d.Stack,
		"name", d.Name,
		"path", d.Path,
		"incarnation", d.Incarnation,
		"status", d.Status,
		"lived_ms", d.Lived.Milliseconds(),
		"delay_ms", d.Delay.Milliseconds(),
	)
}

func text(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
