package minion

import (
	"brine/actors/minion/link"
	"brine/supervisor/stats"
	"brine/wire/payload"
)

// deathsFile is where the last deaths are kept for the next start, in the cache directory.
const deathsFile = "brine_deaths.jsonl"

// tagQuarantine is the event of a message that was set aside because the same actor died of it twice, on the minion's
// bus and on those of its masters.
const tagQuarantine = "brine/actor/quarantine"

// quarantined tells of a message that was set aside.
func (m *Minion) quarantined(q stats.Quarantined) {
	data := payload.M("actor", q.Path, "message", q.Message, "hash", q.Hash, "size", q.Size, "reason", q.Reason)
	m.fire(tagQuarantine, data)
	for _, l := range m.links {
		l.Post(&link.Request{Done: link.LogFailure(m.log, tagQuarantine), Load: link.EventLoad(m.own.id, tagQuarantine,
			data)})
	}
}
