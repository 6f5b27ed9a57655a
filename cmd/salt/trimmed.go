package salt

import (
	"context"
	"time"

	"brine/cmd/masterlink"
	"brine/wire/control"
	"brine/wire/payload"
)

// valueTrimmed stands where a return was too big for an event (max_event_size), in its place or in that of parts of it.
const valueTrimmed = "VALUE_TRIMMED"

// The event of a return comes before it is in the job store: it is asked for again for so long.
const (
	storedWithin = 10 * time.Second
	storedStep   = 50 * time.Millisecond
)

// untrimmed is a return as the job store has it, where its event has only a part and a running brine master is beside
// this tool. Elsewhere it stays, and the log says where it is. Unlike Salt: it shows VALUE_TRIMMED and nothing else.
func (t *saltTool) untrimmed(ctx context.Context, jid, id string, value any) any {
	if !trimmed(value) {
		return value
	}
	if d := masterlink.Daemon(t.Session); d != nil {
		ctx, cancel := context.WithTimeout(ctx, storedWithin)
		defer cancel()
		for {
			all, err := control.Ask(ctx, d, control.GetJobReturns{JID: jid, ID: id})
			if err != nil {
				t.Log.Debug("the whole return was not found", "minion", id, "err", err)
				break
			}
			if got, ok := storedValue(all, id); ok {
				return got
			}
			select {
			case <-ctx.Done():
			case <-time.After(storedStep):
				continue
			}
			break
		}
	}
	t.Log.Warn("What " + id + " has returned is larger than max_event_size and not shown whole. On the master: " +
		"salt-run jobs.lookup_jid " + jid)
	return value
}

// storedValue is what a minion has returned, from the returns of a job store.
func storedValue(all *payload.Map, id string) (any, bool) {
	one, ok := all.Value(id).(*payload.Map)
	if !ok {
		return nil, false
	}
	ret := payload.NewReturn(one)
	return ret.Value(), ret.HasValue()
}

// trimmed tells whether a value, or a part of it, was left out of an event.
func trimmed(v any) bool {
	switch v := v.(type) {
	case string:
		return v == valueTrimmed
	case *payload.Map:
		for _, part := range v.All() {
			if trimmed(part) {
				return true
			}
		}
	}
	return false
}
