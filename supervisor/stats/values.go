package stats

import (
	"maps"
	"slices"
	"time"

	"brine/wire/payload"
)

// Map is the snapshot as a value that can be sent, with the JSON names of Child. `brine tree` and the function
// brine.actors return it. Times are texts (see Stamp).
func (c Child) Map() *payload.Map {
	var last, slow any
	if c.LastDeath != nil {
		last = c.LastDeath.Map()
	}
	if c.LastSlow != nil {
		slow = c.LastSlow.Map()
	}
	m := payload.M(
		"name", c.Name,
		"path", c.Path,
		"pid", c.PID,
		"state", c.State,
		"since", Stamp(c.Since),
		"incarnation", c.Incarnation,
		"restarts", c.Restarts,
		"restarts_hour", c.RestartsHour,
		"mailbox", c.Mailbox,
		"oldest_ms", c.OldestMS,
		"received", c.Received,
		"sent", c.Sent,
		"failed", c.Failed,
		"abandoned", c.Abandoned,
		"stuck", c.Stuck,
		"slow", c.Slow,
		"quarantined", c.Quarantined,
		"lost", c.Lost,
		"dead_letters", lettersMap(c.DeadLetters),
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
		"last_slow", slow,
	)
	return m.Set("deaths", List(c.Deaths)).Set("quarantine", List(c.Quarantine)).Set("children", List(c.Children))
}

// List returns deaths, actors or the like as a list of maps.
func List[T interface{ Map() *payload.Map }](some []T) []any {
	list := make([]any, len(some))
	for i, one := range some {
		list[i] = one.Map()
	}
	return list
}

func lettersMap(byKind map[string]uint64) *payload.Map {
	m := payload.NewMap(len(byKind))
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		m.Set(kind, byKind[kind])
	}
	return m
}

// Map is the summary of a histogram with the JSON names of Spread.
func (s Spread) Map() *payload.Map {
	counts := make([]any, len(s.Buckets))
	for i, n := range s.Buckets {
		counts[i] = n
	}
	return payload.M("count", s.Count, "p50_us", s.P50US, "p99_us", s.P99US, "max_us", s.MaxUS, "sum_us", s.SumUS,
		"buckets", counts)
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

// Map is one report of the watchdog; its running time is in milliseconds.
func (s Slow) Map() *payload.Map {
	return payload.M(
		"time", Stamp(s.Time),
		"name", s.Name,
		"path", s.Path,
		"incarnation", s.Incarnation,
		"message", s.Message,
		"running_ms", s.Running.Milliseconds(),
		"stack", s.Stack,
		"abandoned", s.Abandoned,
	)
}

// Map is one message that was set aside.
func (q Quarantined) Map() *payload.Map {
	return payload.M(
		"time", Stamp(q.Time),
		"name", q.Name,
		"path", q.Path,
		"message", q.Message,
		"hash", q.Hash,
		"size", q.Size,
		"reason", q.Reason,
	)
}

// StampForm is the form of times in the maps of this package, always UTC.
const StampForm = "2006-01-02T15:04:05.000000Z"

// Stamp writes a time in that form.
func Stamp(t time.Time) string { return t.UTC().Format(StampForm) }
