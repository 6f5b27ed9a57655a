package stats

import (
	"time"

	"brine/wire/payload"
)

// Map is the snapshot as a value that can travel, with the JSON names of Child: what `brine tree` and the function
// brine.actors answer with. Times are texts (see Stamp).
func (c Child) Map() *payload.Map {
	var last any
	if c.LastDeath != nil {
		last = c.LastDeath.Map()
	}
	m := payload.M(
		"name", c.Name,
		"path", c.Path,
		"pid", c.PID,
		"state", c.State,
		"since", Stamp(c.Since),
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
		"rate", c.Rate,
		"busy", c.Busy,
		"busy_ms", c.BusyMS,
		"in_hand", c.InHand,
		"in_hand_ms", c.InHandMS,
		"note", c.Note,
		"handling", c.Handling.Map(),
		"waiting", c.Waiting.Map(),
		"last_death", last,
	)
	children := make([]any, len(c.Children))
	for i, below := range c.Children {
		children[i] = below.Map()
	}
	return m.Set("deaths", DeathList(c.Deaths)).Set("children", children)
}

// Map is the sum of a histogram with the JSON names of Spread.
func (s Spread) Map() *payload.Map {
	counts := make([]any, len(s.Buckets))
	for i, n := range s.Buckets {
		counts[i] = n
	}
	return payload.M("count", s.Count, "p50_us", s.P50US, "p99_us", s.P99US, "max_us", s.MaxUS, "sum_us", s.SumUS, "buckets", counts)
}

// DeathList is a list of deaths as maps.
func DeathList(deaths []Death) []any {
	list := make([]any, len(deaths))
	for i, d := range deaths {
		list[i] = d.Map()
	}
	return list
}

// Map is one death; its durations are in milliseconds.
func (d Death) Map() *payload.Map {
	return payload.M(
		"time", Stamp(d.Time),
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

// StampForm is the form of times in the maps of this package, always UTC.
const StampForm = "2006-01-02T15:04:05.000000Z"

// Stamp writes a time as the maps of this package do.
func Stamp(t time.Time) string { return t.UTC().Format(StampForm) }
