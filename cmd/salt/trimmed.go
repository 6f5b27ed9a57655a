package salt

import (
	"context"
	"time"

	"brine/cmd/masterlink"
	"brine/wire/control"
	"brine/wire/payload"
)

// valueTrimmed replaces a return, or a part of one, that is too big for an event (max_event_size).
const valueTrimmed = "VALUE_TRIMMED"

// The event of a return is fired before the job store has the return. The tool therefore asks for it
// repeatedly, for so long.
const (
	storedWithin = 10 * time.Second
	storedStep   = 50 * time.Millisecond
)

// untrimmed returns a whole return from the job store if its event holds only a part. This needs a running
// brine master on this machine. Otherwise it returns the value unchanged and logs where the whole return is.
// Unlike Salt: Salt shows VALUE_TRIMMED and nothing else.
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

// storedValue finds the return of a minion among the returns of a job store.
func storedValue(all *payload.Map, id string) (any, bool) {
	one, ok := all.Value(id).(*payload.Map)
	if !ok {
		return nil, false
	}
	ret := payload.NewReturn(one)
	return ret.Value(), ret.HasValue()
}

// trimmed tells whether an event lacks a value or a part of it.
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
