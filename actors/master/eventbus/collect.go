package eventbus

import (
	"context"
	"strings"

	"brine/wire/event"
	"brine/wire/payload"
)

// Collect waits for the returns of a job on this process' own bus: it subscribes, calls start, and hands over
// each return until all ids have answered or ctx ends.
func (e *Bus) Collect(ctx context.Context, jid string, ids []string, start func() error,
	each func(string, *payload.Return)) error {
	waiting := make(map[string]bool, len(ids))
	for _, id := range ids {
		waiting[id] = true
	}
	returns := make(chan []byte, len(ids))
	prefix := event.TagJobReturn(jid, "")
	open := make(map[string]bool, len(ids)) // whose return has not come; only the sink uses it
	for _, id := range ids {
		open[id] = true
	}
	stop, err := e.Way.Listen(ctx, "collect-"+jid, func(tag string, body []byte) {
		if id, ok := strings.CutPrefix(tag, prefix); ok && open[id] {
			delete(open, id)
			select {
			case returns <- body:
			default: // there is room for one of each
			}
		}
	})
	if err != nil {
		return err
	}
	defer stop()
	if err := start(); err != nil {
		return err
	}
	for len(waiting) > 0 {
		select {
		case body := <-returns:
			_, data, err := event.Unpack(body)
			if ret := payload.NewReturn(data); err == nil && waiting[ret.ID()] {
				delete(waiting, ret.ID())
				each(ret.ID(), ret)
			}
		case <-ctx.Done():
			return nil // the time is over: what has come is the answer
		}
	}
	return nil
}
